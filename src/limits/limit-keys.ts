/**
 * What a limit counts by: the keys of a request, from the parts that the limit names. A visitor cannot have more counts by
 * leaving something out, or by sending what nobody else sends:
 * - A part that is missing is a key, too: that of the requests of the same network without it.
 * - An IPv6 address is its /64. The /56 and the /48 around it have a count of their own, 3 and 10 times as large, because
 *   a visitor with a /48 has 65,536 of the first.
 * - A key made only of what a visitor writes freely has a companion: 10 times the count for their network.
 * Keys are signed, so that they are short and show nothing of a person. Pure.
 */
import { formatCidr, parseIp, prefixOf } from '../address/ip.ts';
import { neighboursOf } from '../address/networks.ts';
import { encodeBase64url } from '../bytes/base64url.ts';

/** Parts with a name are written `header:<name>` and `cookie:<name>`. */
export interface KeySource {
  ip: string | null;
  asn: number | null;
  country: string | null;
  ja4: string | null;
  /** Id of the session. */
  session: string | null;
  bot: string | null;
  /** Canonical. Of several readings the shortest, so that what an origin may leave out makes no other key. */
  path: string;
  host: string;
  header: (name: string) => string | null;
  cookie: (name: string) => string | null;
  /** Of the form: the first and the last, where it names several. */
  users: readonly string[];
}

export interface KeyedLimit {
  name: string;
  key: readonly string[];
  windowSeconds: number;
  algorithm: string;
}

export interface LimitKeys {
  /** Of the limit itself: one, or two where a form names two users. */
  own: readonly string[];
  /** Of larger networks, each with its multiple of the count. */
  wider: readonly { key: string; times: number }[];
}

/** Longer values with the same beginning are one. */
const VALUE_MAX_CHARS = 1024;
/** 96 bits: two of a million keys are the same once in 10^17 instances. */
const KEY_BYTES = 12;
const COMPANION_TIMES = 10;
const WIDER_NETWORKS: readonly (readonly [bits: number, times: number])[] = [
  [56, 3],
  [48, 10],
];
/** What a visitor has or has to earn. Everything else is written freely. */
const OWNED: ReadonlySet<string> = new Set(['ip', 'prefix', 'asn', 'country', 'session']);

/** `sign`: a MAC under a key of the instance. */
export function limitKeys(limit: KeyedLimit, from: KeySource, sign: (text: string) => Uint8Array): LimitKeys {
  const near = neighboursOf(from.ip).near;
  const byUser = limit.key.includes('user') && from.users.length > 0 ? from.users : [null];
  const head = `${limit.name} ${limit.algorithm} ${limit.windowSeconds}`;
  const keyOf = (parts: readonly string[]): string =>
    encodeBase64url(sign([head, ...parts].join('\n')).subarray(0, KEY_BYTES));

  const own = byUser.map((user) => {
    const parts = limit.key.map((part) => written(valueOf(part, from, user)));
    return keyOf(parts.includes(NONE) ? [...parts, near] : parts);
  });
  const wider: { key: string; times: number }[] = [];
  for (const [bits, times] of widerNetworks(limit.key, from.ip)) {
    for (const user of byUser) {
      const parts = limit.key.map((part) =>
        part === 'ip' || part === 'prefix' ? `/${bits} ${network(from.ip, bits)}` : written(valueOf(part, from, user)),
      );
      wider.push({ key: keyOf(parts), times });
    }
  }
  if (!limit.key.some((part) => OWNED.has(part))) wider.push({ key: keyOf(['network', near]), times: COMPANION_TIMES });
  return { own: [...new Set(own)], wider };
}

const NONE = '-';

/** With its length, so that no two lists of values are the same text. */
function written(value: string | number | null): string {
  if (value === null) return NONE;
  const text = String(value).slice(0, VALUE_MAX_CHARS);
  return `${text.length}:${text}`;
}

function valueOf(part: string, from: KeySource, user: string | null): string | number | null {
  switch (part) {
    case 'ip':
      return from.ip === null ? null : network(from.ip, from.ip.includes(':') ? 64 : 32);
    case 'prefix':
      return from.ip === null ? null : neighboursOf(from.ip).near;
    case 'path':
      return from.path.toLowerCase();
    case 'user':
      return user;
    case 'asn':
    case 'country':
    case 'ja4':
    case 'session':
    case 'bot':
    case 'host':
      return from[part];
  }
  if (part.startsWith('header:')) return from.header(part.slice(7));
  return part.startsWith('cookie:') ? from.cookie(part.slice(7)) : null;
}

/** Only IPv6: nobody gets a /16 of IPv4 for the price of an address. */
function widerNetworks(key: readonly string[], ip: string | null): readonly (readonly [bits: number, times: number])[] {
  if (ip === null || !ip.includes(':')) return [];
  if (key.includes('ip')) return WIDER_NETWORKS;
  return key.includes('prefix') ? WIDER_NETWORKS.slice(1) : [];
}

function network(ip: string | null, bits: number): string {
  const address = ip === null ? null : parseIp(ip);
  return address === null ? NONE : formatCidr(prefixOf(address, bits));
}

/** One spelling of a user's name: origins take most of them for the same. `null` for none. */
export function userName(text: string): string | null {
  const name = text.trim().slice(0, VALUE_MAX_CHARS).normalize('NFKC').trim().toLowerCase();
  return name === '' ? null : name;
}
