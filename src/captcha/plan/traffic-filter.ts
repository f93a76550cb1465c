/**
 * The site's traffic filter: what kind of address may pass, and what it has to do. One flag counts for an address: the
 * first it has of tor, vpn, proxy, datacenter, abuser, crawler, satellite, mobile. So a site without a rule for `vpn`
 * lets a VPN pass whose datacenter it blocks otherwise.
 */
import {
  type TrafficFilter,
  type TrafficFlag,
  trafficFlags,
  type TrafficRule,
} from '../../contract/management/site-settings.ts';
import type { VerifyReason } from '../../contract/captcha/siteverify.ts';

/** What is known about an address. `null` means not known, which is not the same as "no". */
export interface AddressTraits {
  categories: readonly string[] | null;
  /** Name of the network's operator. */
  network: string | null;
  /** 0–1. */
  abuseScore: number | null;
}

const BLOCKED: Record<TrafficFlag, VerifyReason> = {
  tor: 'API.TOR_BLOCKED',
  vpn: 'API.VPN_BLOCKED',
  proxy: 'API.PROXY_BLOCKED',
  datacenter: 'API.DATACENTER_BLOCKED',
  abuser: 'API.ABUSER_BLOCKED',
  crawler: 'API.CRAWLER_BLOCKED',
  satellite: 'API.SATELLITE_BLOCKED',
  mobile: 'API.MOBILE_BLOCKED',
};

export function trafficRuleOf(
  filter: TrafficFilter | undefined,
  traits: AddressTraits,
): { flag: TrafficFlag; rule: TrafficRule } | null {
  if (filter === undefined) return null;
  const flags = flagsOf(filter, traits);
  if (flags === null) return null;
  const flag = trafficFlags.find((name) => flags.has(name));
  const rule = flag === undefined ? undefined : filter[flag];
  return flag === undefined || rule === undefined ? null : { flag, rule };
}

export function trafficRefusal(filter: TrafficFilter | undefined, traits: AddressTraits): VerifyReason | null {
  const found = trafficRuleOf(filter, traits);
  return found?.rule.action === 'block' ? BLOCKED[found.flag] : null;
}

/** Whether the site has a rule that cannot be judged with these traits. */
export function trafficUnknown(filter: TrafficFilter | undefined, traits: AddressTraits): boolean {
  return (
    filter !== undefined && trafficFlags.some((flag) => filter[flag] !== undefined) && flagsOf(filter, traits) === null
  );
}

function flagsOf(filter: TrafficFilter, traits: AddressTraits): ReadonlySet<string> | null {
  const { categories, network, abuseScore } = traits;
  const denied = network !== null && named(filter.datacenterNameDenylist, network);
  if (categories === null && !denied && abuseScore === null) return null;
  const flags = new Set(categories ?? []);
  if (denied) flags.add('datacenter');
  else if (network !== null && named(filter.datacenterNameAllowlist, network)) flags.delete('datacenter');
  if (abuseScore !== null) {
    if (abuseScore >= filter.abuserScoreThreshold) flags.add('abuser');
    else flags.delete('abuser');
  }
  return flags;
}

function named(list: readonly string[], network: string): boolean {
  const name = network.toLowerCase();
  return list.some((entry) => name.includes(entry.toLowerCase()));
}
