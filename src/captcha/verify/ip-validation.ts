/**
 * A site's `ipValidationRules`: how far the address that verifies may be from the one that solved the challenge. Pure:
 * what the dataset says about both addresses comes in as facts.
 */
import type { SealedFacts } from '../seal/sealed-facts.ts';
import type { IpValidationRules } from '../../contract/management/site-settings.ts';
import type { AddressFacts } from './address-facts.ts';

export interface IpVerdict {
  /** `not-evaluated`: the addresses differ, and it is not known by how much. */
  action: 'pass' | 'flag' | 'reject' | 'not-evaluated';
  /** Names of the actions other than `allow` whose conditions could not be judged, because a fact is not known. */
  unknown: readonly string[];
}

const EARTH_RADIUS_KM = 6371;

export interface IpComparison {
  /** `null`: the backend sent no address, or none was seen when the challenge was issued. */
  sameAddress: boolean | null;
  sameCity: boolean | null;
  issued: SealedFacts;
  verifying: AddressFacts | null;
}

export function validateAddress(rules: IpValidationRules | undefined, given: IpComparison): IpVerdict {
  if (rules?.enabled !== true || given.sameAddress === true) return outcome('pass');
  if (given.sameAddress === null) return outcome('not-evaluated');
  if (rules.forceConsistentIp) return outcome('reject');
  const { issued, verifying } = given;
  if (verifying === null) return outcome('not-evaluated');
  const override = issued.country === null ? undefined : rules.countryOverrides[issued.country];
  const actions = { ...rules.actions, ...definedOf(override?.actions) };
  const conditions = conditionsOf(given, {
    distanceKm: override?.distanceThresholdKm ?? rules.distanceThresholdKm,
    abuseScore: override?.abuseScoreThreshold ?? rules.abuseScoreThreshold,
  });
  // A `null` condition could not be judged. When none could, nothing was evaluated.
  const names = Object.keys(conditions) as (keyof typeof actions)[];
  const judged = names.flatMap((name) => (conditions[name] === null ? [] : [[name, conditions[name]] as const]));
  if (judged.length === 0) return outcome('not-evaluated');
  const unknown = names.filter((name) => conditions[name] === null && actions[name] !== 'allow');
  const rejecting = judged.filter(([name]) => actions[name] === 'reject');
  const failed = rejecting.filter(([, exceeded]) => exceeded).length;
  const all = override?.requireAllConditions ?? rules.requireAllConditions;
  if (failed > 0 && (!all || failed === rejecting.length)) return outcome('reject', unknown);
  const isFlagged = judged.some(([name, exceeded]) => exceeded && actions[name] === 'flag');
  return outcome(isFlagged ? 'flag' : 'pass', unknown);
}

function outcome(action: IpVerdict['action'], unknown: readonly string[] = []): IpVerdict {
  return { action, unknown };
}

function conditionsOf(
  { issued, verifying, sameCity }: IpComparison,
  limits: { distanceKm: number; abuseScore: number },
): Record<keyof IpValidationRules['actions'], boolean | null> {
  const countryChanged = differs(issued.country, verifying?.country ?? null);
  const ispChanged = differs(issued.asn, verifying?.asn ?? null);
  const distance = distanceKm(issued, verifying);
  // A mobile provider assigns addresses from anywhere in its country, so the visitor did not travel.
  const isDatacenter = verifying?.categories?.includes('datacenter') === true;
  const roaming = countryChanged === false && ispChanged === false && !isDatacenter;
  return {
    countryChangeAction: countryChanged,
    cityChangeAction: roaming ? false : sameCity === null ? null : !sameCity,
    ispChangeAction: ispChanged,
    distanceExceedAction: roaming ? false : distance === null ? null : distance > limits.distanceKm,
    abuseScoreExceedAction: verifying?.abuseScore == null ? null : verifying.abuseScore > limits.abuseScore,
  };
}

function differs(before: string | number | null, after: string | number | null): boolean | null {
  return before === null || after === null ? null : before !== after;
}

/** Great-circle distance (haversine). */
function distanceKm(issued: SealedFacts, verifying: AddressFacts | null): number | null {
  if (issued.latitude === null || issued.longitude === null) return null;
  if (verifying?.latitude == null || verifying.longitude === null) return null;
  const radians = Math.PI / 180;
  const dLat = (verifying.latitude - issued.latitude) * radians;
  const dLon = (verifying.longitude - issued.longitude) * radians;
  const a =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(issued.latitude * radians) * Math.cos(verifying.latitude * radians) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(a)));
}

function definedOf<T extends object>(value: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
