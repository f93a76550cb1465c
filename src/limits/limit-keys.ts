/**
 * What a limit counts by: the keys of a request, from the parts that the limit names. A visitor cannot have more counts by
 * leaving something out, or by sending what nobody else sends:
 * - A part that is missing is a key, too: that of the requests of the same network without it.
 * - An IPv6 address is its /64. The /56 and the /48 around it have a count of their own, 3 and 10 times as large, because
 *   a visitor with a /48 has 65,536 of the first.
 * - A key with a part that a visitor writes freely has a companion without it: 100 times the count for their address,
 *   network and session, as far as the limit names them, or else for their network.
 * Keys are signed, so that they are short and show nothing of a person. Pure.
 */
import { formatCidr, parseIp, prefixOf } from '../address/ip.ts';
import { addressPrefix, neighboursOf, type Network, networksOf } from '../address/networks.ts';
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

interface KeyedLimit {
  name: string;
  key: readonly string[];
  windowSeconds: number;
  algorithm: string;
}

interface TimedKey {
  key: string;
  /** Its multiple of the count. */
  times: number;
}

export interface LimitKeys {
  /** Of the limit itself: one, or two where a form names two users. */
  own: readonly string[];
  /** Of larger networks and companions. */
  wider: readonly TimedKey[];
}

/** Longer values with the same beginning are one. */
const VALUE_MAX_CHARS = 1024;
/** 96 bits: two of a million keys are the same once in 10^17 instances. */
const KEY_BYTES = 12;
/** An office or a carrier has many people behind one address, and most of them use a small part of their count. */
const COMPANION_TIMES = 100;
const NETWORKS: ReadonlySet<string> = new Set(['ip', 'prefix']);
/** What a visitor has or has to earn, and shares with few enough to be counted by it alone. */
const COMPANIONS: ReadonlySet<string> = new Set(['ip', 'prefix', 'session']);

/** `sign`: a MAC under a key of the instance. */
export function limitKeys(limit: KeyedLimit, from: KeySource, sign: (text: string) => Uint8Array): LimitKeys {
  const head = `${limit.name} ${limit.algorithm} ${limit.windowSeconds}`;
  const keyOf = (parts: readonly string[]): string =>
    encodeBase64url(sign([head, ...parts].join('\n')).subarray(0, KEY_BYTES));
  if (!limit.key.some(isFree)) {
    const [own, ...wider] = keysAround(limit.key, from, null, keyOf);
    return { own: [own.key], wider };
  }

  const byUser = limit.key.includes('user') && from.users.length > 0 ? from.users : [null];
  const markedKeyOf = (parts: readonly string[]): string => FREE_MARK + keyOf(parts);
  const own: string[] = [];
  const wider: TimedKey[] = [];
  for (const user of byUser) {
    const [first, ...others] = keysAround(limit.key, from, user, markedKeyOf);
    own.push(first.key);
    wider.push(...others);
  }
  const shared = limit.key.filter((part) => COMPANIONS.has(part));
  const companions = keysAround(shared.length > 0 ? shared : ['prefix'], from, null, (parts) =>
    keyOf(['companion', ...parts]),
  );
  wider.push(...companions.map(({ key, times }) => ({ key, times: times * COMPANION_TIMES })));
  return { own: [...new Set(own)], wider };
}

/** Of these parts, and then of the larger networks around them. */
function keysAround(
  key: readonly string[],
  from: KeySource,
  user: string | null,
  keyOf: (parts: readonly string[]) => string,
): [TimedKey, ...TimedKey[]] {
  const parts = key.map((part) => written(valueOf(part, from, user)));
  const isLacking = parts.includes(NONE);
  const own = keyOf(isLacking ? [...parts, neighboursOf(from.ip).near] : parts);
  const wider = widerNetworks(key, from.ip, isLacking).map(({ prefix, times }): TimedKey => {
    const around = `${prefix.slice(prefix.indexOf('/'))} ${prefix}`;
    const replaced = key.map((part, place) => (NETWORKS.has(part) ? around : parts[place]!));
    return { key: keyOf(key.some((part) => NETWORKS.has(part)) ? replaced : [...replaced, around]), times };
  });
  return [{ key: own, times: 1 }, ...wider];
}

const NONE = '-';

function isFree(part: string): boolean {
  return !COMPANIONS.has(part) && part !== 'asn' && part !== 'country';
}

/** With its length, so that no two lists of values are the same text. */
function written(value: string | number | null): string {
  if (value === null) return NONE;
  const text = String(value).slice(0, VALUE_MAX_CHARS);
  return `${text.length}:${text}`;
}

function valueOf(part: string, from: KeySource, user: string | null): string | number | null {
  switch (part) {
    case 'ip':
      return from.ip === null ? null : ownAddress(from.ip);
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

/**
 * The networks around the one that the key names. Only IPv6: nobody gets a /16 of IPv4 for the price of an address.
 * `isLacking`: the key has the /56 for a part.
 */
function widerNetworks(key: readonly string[], ip: string | null, isLacking: boolean): readonly Network[] {
  if (ip === null || !ip.includes(':')) return [];
  const [, ...aroundAddress] = networksOf(ip);
  if (key.includes('ip')) return aroundAddress;
  return isLacking || key.includes('prefix') ? aroundAddress.slice(1) : [];
}

/** An IPv6 address counts by its /64, which belongs to one customer. */
function ownAddress(ip: string): string {
  if (ip.includes(':')) return addressPrefix(ip);
  const address = parseIp(ip);
  return address === null ? NONE : formatCidr(prefixOf(address, 32));
}

/** One of several readings of a path, the first of the shortest. */
export function pathKey(readings: readonly string[]): string {
  return readings.reduce((one, other) => (other.length < one.length ? other : one));
}

/** One spelling of a user's name, without accents: origins take most of them for the same. `null` for none. */
export function userName(text: string): string | null {
  const letters = text.trim().slice(0, VALUE_MAX_CHARS).normalize('NFKD');
  const name = letters
    .replaceAll(/[\p{M}\p{C}]+/gu, '')
    .trim()
    .toLowerCase();
  return name === '' ? null : name;
}

/**
 * Keys with a part that visitors write freely are marked: one visitor can make as many of them as they like. Whatever
 * keeps keys leaves an eighth of its room to the others, so that nobody can stop the limits by address, network and
 * session. Pure.
 */
export const FREE_MARK = '~';
const FREE_SHARE = 7 / 8;

/** Whether one more key has room beside those that are kept. */
export function hasRoomFor(key: string, kept: number, max: number): boolean {
  return kept < (key.startsWith(FREE_MARK) ? max * FREE_SHARE : max);
}
