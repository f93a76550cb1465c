/**
 * A site's `ipValidationRules`: how far the address that is verified for may be from the one that
 * solved the challenge. Pure; the dataset's word on both sides comes in as facts.
 */
import type { SealedFacts } from '../seal/sealed-facts.ts';
import type { IpValidationRules } from '../../contract/management/site-settings.ts';
import type { AddressFacts } from './address-facts.ts';

/** `not-evaluated`: the addresses differ, and nobody could say by how much. */
export type IpVerdict = 'pass' | 'flag' | 'reject' | 'not-evaluated';

const EARTH_RADIUS_KM = 6371;

export interface IpComparison {
  /** `null`: the backend named no address, or the challenge saw none. */
  sameAddress: boolean | null;
  sameCity: boolean | null;
  issued: SealedFacts;
  verifying: AddressFacts | null;
}

export function validateAddress(rules: IpValidationRules | undefined, given: IpComparison): IpVerdict {
  if (rules?.enabled !== true || given.sameAddress === true) return 'pass';
  if (given.sameAddress === null) return 'not-evaluated';
  if (rules.forceConsistentIp) return 'reject';
  const { issued, verifying } = given;
  if (verifying === null) return 'not-evaluated';
  const override = issued.country === null ? undefined : rules.countryOverrides[issued.country];
  const actions = { ...rules.actions, ...definedOf(override?.actions) };
  const conditions = conditionsOf(given, {
    distanceKm: override?.distanceThresholdKm ?? rules.distanceThresholdKm,
    abuseScore: override?.abuseScoreThreshold ?? rules.abuseScoreThreshold,
  });
  // `null` conditions could not be judged; with none judged nothing was evaluated.
  const judged = Object.entries(conditions).filter(
    (entry): entry is [keyof typeof actions, boolean] => entry[1] !== null,
  );
  if (judged.length === 0) return 'not-evaluated';
  const rejecting = judged.filter(([name]) => actions[name] === 'reject');
  const failed = rejecting.filter(([, exceeded]) => exceeded).length;
  const all = override?.requireAllConditions ?? rules.requireAllConditions;
  if (failed > 0 && (!all || failed === rejecting.length)) return 'reject';
  return judged.some(([name, exceeded]) => exceeded && actions[name] === 'flag') ? 'flag' : 'pass';
}

function conditionsOf(
  { issued, verifying, sameCity }: IpComparison,
  limits: { distanceKm: number; abuseScore: number },
): Record<keyof IpValidationRules['actions'], boolean | null> {
  const now = verifying;
  const countryChanged = differs(issued.country, now?.country ?? null);
  const ispChanged = differs(issued.asn, now?.asn ?? null);
  const distance = distanceKm(issued, now);
  // A phone's provider hands out addresses all over its country: not a journey.
  const roaming = countryChanged === false && ispChanged === false && !(now?.categories ?? []).includes('datacenter');
  return {
    countryChangeAction: countryChanged,
    cityChangeAction: roaming ? false : sameCity === null ? null : !sameCity,
    ispChangeAction: ispChanged,
    distanceExceedAction: roaming ? false : distance === null ? null : distance > limits.distanceKm,
    abuseScoreExceedAction: now?.abuseScore == null ? null : now.abuseScore > limits.abuseScore,
  };
}

function differs(before: string | number | null, after: string | number | null): boolean | null {
  return before === null || after === null ? null : before !== after;
}

/** Great-circle distance (haversine). */
function distanceKm(issued: SealedFacts, now: AddressFacts | null): number | null {
  if (issued.latitude === null || issued.longitude === null || now?.latitude == null || now.longitude === null)
    return null;
  const radians = Math.PI / 180;
  const dLat = (now.latitude - issued.latitude) * radians;
  const dLon = (now.longitude - issued.longitude) * radians;
  const a =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(issued.latitude * radians) * Math.cos(now.latitude * radians) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(a)));
}

function definedOf<T extends object>(value: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
