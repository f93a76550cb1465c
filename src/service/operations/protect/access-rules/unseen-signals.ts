/**
 * Rule types whose signal this instance's edge never gets. A `ja4Hash` rule, for example, cannot match anyone unless
 * Cloudflare's Bot Management or a proxy supplies JA4, and the listing should show that. Read from the counts of the
 * verdict log for the last week, at most once a minute per instance and isolate.
 */
import { ExpiringMap } from '../../../../bytes/bounded-map.ts';
import type { EdgeRuleType } from '../../../../contract/vocabulary.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import type { StoredDimension } from '../../../../store/event-log/count-dimensions.ts';
import { countSeries, verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import type { Point } from '../../../../store/event-log/shard-rpc.ts';
import type { ServiceStore } from '../../../environment.ts';

const WINDOW_MINUTES = 7 * 24 * 60;
const BUCKET_MINUTES = 24 * 60;
const KEPT_MS = 60_000;
const KEPT_INSTANCES_MAX = 1000;
/** Every request has an address and a user agent, so those are not here. */
const dimensions = { asn: 'asn', countryCode: 'country', ja4Hash: 'ja4' } as const satisfies Partial<
  Record<EdgeRuleType, StoredDimension>
>;

const kept = new ExpiringMap<readonly EdgeRuleType[]>(KEPT_INSTANCES_MAX, KEPT_MS);

/** Rule types whose signal no logged request had. None while nothing is logged. */
export async function unseenSignals(
  store: ServiceStore,
  instance: Pick<StoredInstance, 'id'>,
  nowMs: number,
): Promise<readonly EdgeRuleType[]> {
  const known = kept.get(instance.id, nowMs);
  if (known) return known;
  const types = Object.keys(dimensions) as (keyof typeof dimensions)[];
  let unseen: EdgeRuleType[] = [];
  try {
    const seen = await Promise.all(types.map((type) => wasSeen(store, instance, dimensions[type], nowMs)));
    unseen = types.filter((_, index) => seen[index] === false);
  } catch (error) {
    // This is only a hint, so the listing works without it.
    console.warn(JSON.stringify({ event: 'unseen-signals-unknown', instanceId: instance.id, error: String(error) }));
  }
  kept.set(instance.id, unseen, nowMs);
  return unseen;
}

/** `null`: nothing was logged, so it is not known. */
async function wasSeen(
  store: ServiceStore,
  instance: Pick<StoredInstance, 'id'>,
  dimension: StoredDimension,
  nowMs: number,
): Promise<boolean | null> {
  const to = Math.floor(nowMs / 60_000) + 1;
  const window = { from: to - WINDOW_MINUTES, to, outcomes: null };
  // The empty value counts requests without the signal.
  const { series, other } = await countSeries(store, verdictLogOf(instance), dimension, [''], window, BUCKET_MINUTES);
  if (requests(other) > 0) return true;
  return requests(series[0] ?? []) > 0 ? false : null;
}

function requests(points: readonly Point[]): number {
  return points.reduce((sum, point) => sum + point[1] + point[2] + point[3], 0);
}
