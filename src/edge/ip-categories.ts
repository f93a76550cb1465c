/**
 * Address categories (issue 4, point 6): Tor by Cloudflare's country code `T1`, networks by ASN, and
 * prefixes. The default names only networks that publish their addresses as cloud or hosting ranges
 * (`docs/ip-categories.md` has the sources); an operator replaces it with the variable `IP_CATEGORIES`.
 */
import * as z from 'zod/mini';
import { ipCategories } from '../contract/vocabulary.ts';
import type { IpCategory } from '../contract/vocabulary.ts';
import { canonicalAsn } from './signal-values.ts';
import { parseCidr, parseIp } from '../rules/ip.ts';
import type { IpAddress } from '../rules/ip.ts';

export interface IpCategories {
  of(ip: string | null, asn: number | null, country: string | null): readonly IpCategory[];
}

const names = z.array(z.enum(ipCategories)).check(z.minLength(1), z.maxLength(ipCategories.length));
/** An environment variable holds 5 kB; the bound only says that larger sets belong in `ipMask` rules. */
const ENTRIES_MAX = 2000;
const dataset = z.strictObject({
  asn: z._default(z.record(z.string(), names), {}),
  prefixes: z._default(z.record(z.string(), names), {}),
});

/** Networks whose operators sell servers, not access. Sources: each operator's published ranges and registry entry. */
const DEFAULT_ASN: Readonly<Record<string, IpCategory[]>> = {
  8075: ['datacenter'], // Microsoft Azure
  8560: ['datacenter'], // IONOS
  9009: ['datacenter'], // M247
  12876: ['datacenter'], // Scaleway
  14061: ['datacenter'], // DigitalOcean
  14618: ['datacenter'], // Amazon EC2
  16276: ['datacenter'], // OVH
  16509: ['datacenter'], // Amazon
  20473: ['datacenter'], // Vultr
  24940: ['datacenter'], // Hetzner
  31898: ['datacenter'], // Oracle Cloud
  36352: ['datacenter'], // HostPapa (ColoCrossing)
  37963: ['datacenter'], // Alibaba Cloud
  45102: ['datacenter'], // Alibaba Cloud international
  45090: ['datacenter'], // Tencent Cloud
  51167: ['datacenter'], // Contabo
  60781: ['datacenter'], // Leaseweb
  63949: ['datacenter'], // Akamai Linode
  132203: ['datacenter'], // Tencent Cloud international
  396982: ['datacenter'], // Google Cloud
};

const NONE: readonly IpCategory[] = [];
const TOR: readonly IpCategory[] = ['tor'];

export type CategoriesReading = { ok: true; categories: IpCategories } | { ok: false; reason: string };

/** `json`: an operator's dataset, or `null` for the default. */
export function readIpCategories(json: string | null): CategoriesReading {
  if (json === null) return { ok: true, categories: compile(DEFAULT_ASN, {}) };
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return { ok: false, reason: 'IP_CATEGORIES is not JSON' };
  }
  const read = dataset.safeParse(parsed);
  if (!read.success)
    return { ok: false, reason: 'IP_CATEGORIES must look like {"asn": {"64496": ["vpn"]}, "prefixes": {}}' };
  const { asn, prefixes } = read.data;
  if (Object.keys(asn).length + Object.keys(prefixes).length > ENTRIES_MAX) {
    return { ok: false, reason: `IP_CATEGORIES may have at most ${ENTRIES_MAX} entries` };
  }
  for (const key of Object.keys(asn)) {
    if (canonicalAsn(key) === null) return { ok: false, reason: `IP_CATEGORIES: ${key} is not an AS number` };
  }
  for (const key of Object.keys(prefixes)) {
    if (!parseCidr(key)) return { ok: false, reason: `IP_CATEGORIES: ${key} is not a prefix` };
  }
  return { ok: true, categories: compile(asn, prefixes) };
}

function compile(
  asn: Readonly<Record<string, IpCategory[]>>,
  prefixes: Readonly<Record<string, IpCategory[]>>,
): IpCategories {
  const byAsn = new Map(Object.entries(asn).map(([key, categories]) => [canonicalAsn(key), categories]));
  const ranges = Object.entries(prefixes).map(([key, categories]) => ({ prefix: parseCidr(key)!, categories }));
  return {
    of(ip, number, country) {
      const base = (number === null ? undefined : byAsn.get(number)) ?? NONE;
      const address = ranges.length > 0 && ip !== null ? parseIp(ip) : null;
      const within = address ? ranges.filter(({ prefix }) => contains(prefix, address)) : [];
      if (within.length === 0)
        return country !== 'T1' ? base : base.length === 0 ? TOR : [...new Set([...TOR, ...base])];
      const all = [...base, ...within.flatMap(({ categories }) => categories)];
      return [...new Set(country === 'T1' ? [...TOR, ...all] : all)];
    },
  };
}

function contains(prefix: IpAddress & { prefixLength: number }, address: IpAddress): boolean {
  if (prefix.family !== address.family) return false;
  let bits = prefix.prefixLength;
  for (let word = 0; bits > 0; word++, bits -= 32) {
    const mask = bits >= 32 ? 0xffff_ffff : (0xffff_ffff << (32 - bits)) >>> 0;
    if (((prefix.words[word]! ^ address.words[word]!) & mask) !== 0) return false;
  }
  return true;
}
