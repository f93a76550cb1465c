/**
 * Address categories: Tor by Cloudflare's country code `T1`, networks by ASN, and prefixes. The default names only
 * networks that publish their addresses as cloud or hosting ranges (sources in `docs/ip-categories.md`). An operator
 * replaces it with the variable `IP_CATEGORIES`.
 */
import * as z from 'zod/mini';
import { failed, ok, type Result } from '../../result.ts';
import { ipCategories, type IpCategory } from '../../contract/vocabulary.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { canonicalAsn } from '../../address/asn.ts';
import { type IpPrefix, parseCidr } from '../../address/ip.ts';
import { PrefixMap } from '../../address/prefix-table.ts';

export interface IpCategories {
  of(ip: string | null, asn: number | null, country: string | null): readonly IpCategory[];
}

const names = z.array(z.enum(ipCategories)).check(z.minLength(1), z.maxLength(ipCategories.length));
/** An environment variable holds 5 kB. Larger sets belong in `ipMask` rules. */
const ENTRIES_MAX = 2000;

/** Networks whose operators sell servers, not access. Sources: each operator's published ranges and registry entry. */
const DATACENTER_ASNS = [
  8075, // Microsoft Azure
  8560, // IONOS
  9009, // M247
  12876, // Scaleway
  14061, // DigitalOcean
  14618, // Amazon EC2
  16276, // OVH
  16509, // Amazon
  20473, // Vultr
  24940, // Hetzner
  31898, // Oracle Cloud
  36352, // HostPapa (ColoCrossing)
  37963, // Alibaba Cloud
  45102, // Alibaba Cloud international
  45090, // Tencent Cloud
  51167, // Contabo
  60781, // Leaseweb
  63949, // Akamai Linode
  132203, // Tencent Cloud international
  396982, // Google Cloud
];

const NONE: readonly IpCategory[] = [];
const TOR: readonly IpCategory[] = ['tor'];
const DATACENTER: readonly IpCategory[] = ['datacenter'];

export type CategoriesReading = Result<IpCategories, string>;

/** `json`: an operator's dataset, or `null` for the default. */
export function readIpCategories(json: string | null): CategoriesReading {
  const byAsn = new Map<number, readonly IpCategory[]>();
  const byPrefix: [IpPrefix, readonly IpCategory[]][] = [];
  const read = (): CategoriesReading => ok(lookup(byAsn, byPrefix));
  if (json === null) {
    for (const asn of DATACENTER_ASNS) byAsn.set(asn, DATACENTER);
    return read();
  }
  const parsed = parseJson(json);
  if (parsed === null) return refused(' is not JSON');
  const shape = refused(' must look like {"asn": {"64496": ["vpn"]}, "prefixes": {}}');
  if (!isJsonObject(parsed)) return shape;
  const { asn = {}, prefixes = {}, ...others } = parsed;
  if (!isJsonObject(asn) || !isJsonObject(prefixes) || Object.keys(others).length > 0) return shape;
  const entries = [...Object.entries(asn), ...Object.entries(prefixes)];
  if (entries.length > ENTRIES_MAX) return refused(` may have at most ${ENTRIES_MAX} entries`);
  if (!entries.every(([, categories]) => names.safeParse(categories).success)) return shape;
  for (const [key, categories] of Object.entries(asn)) {
    const number = canonicalAsn(key);
    if (number === null) return refused(`: ${key} is not an AS number`);
    byAsn.set(number, categories as IpCategory[]);
  }
  for (const [key, categories] of Object.entries(prefixes)) {
    const prefix = parseCidr(key);
    if (!prefix) return refused(`: ${key} is not a prefix`);
    byPrefix.push([prefix, categories as IpCategory[]]);
  }
  return read();
}

function refused(reason: string): CategoriesReading {
  return failed(`IP_CATEGORIES${reason}`);
}

function lookup(
  byAsn: ReadonlyMap<number, readonly IpCategory[]>,
  byPrefix: readonly (readonly [IpPrefix, readonly IpCategory[]])[],
): IpCategories {
  const prefixes = byPrefix.length === 0 ? null : new PrefixMap(byPrefix);
  return {
    of(ip, number, country) {
      const base = (number === null ? undefined : byAsn.get(number)) ?? NONE;
      const within = prefixes === null || ip === null ? NONE : prefixes.all(ip).flat();
      if (within.length === 0 && (country !== 'T1' || base.length === 0)) return country === 'T1' ? TOR : base;
      const tor = country === 'T1' ? TOR : NONE;
      return [...new Set([...tor, ...base, ...within])];
    },
  };
}
