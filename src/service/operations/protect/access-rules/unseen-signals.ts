/**
 * Which kinds of signal this instance's edge has never brought: a `ja4Hash` rule can match nobody where
 * nothing supplies JA4 (Cloudflare's Bot Management or a proxy), and the listing should say so. Read
 * from the verdict log's counts of the last week, at most once a minute per instance and isolate.
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
/** Addresses and user agents are there with every request. */
const dimensions = { asn: 'asn', countryCode: 'country', ja4Hash: 'ja4' } as const satisfies Partial<
  Record<EdgeRuleType, StoredDimension>
>;

const kept = new ExpiringMap<readonly EdgeRuleType[]>(KEPT_INSTANCES_MAX, KEPT_MS);

/** Rule types whose signal no logged request had; none while nothing is logged. `now`: epoch milliseconds. */
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
    // A remark about rules must not cost the listing: a broken log has its own alarms.
    console.warn(JSON.stringify({ event: 'unseen-signals-unknown', instanceId: instance.id, error: String(error) }));
  }
  kept.set(instance.id, unseen, nowMs);
  return unseen;
}

/** `null`: nothing was logged, so nothing is known. */
async function wasSeen(
  store: ServiceStore,
  instance: Pick<StoredInstance, 'id'>,
  dimension: StoredDimension,
  nowMs: number,
): Promise<boolean | null> {
  const to = Math.floor(nowMs / 60_000) + 1;
  const window = { from: to - WINDOW_MINUTES, to, outcomes: null };
  // The empty value stands for "the request had none".
  const { series, other } = await countSeries(store, verdictLogOf(instance), dimension, [''], window, BUCKET_MINUTES);
  if (requests(other) > 0) return true;
  return requests(series[0] ?? []) > 0 ? false : null;
}

function requests(points: readonly Point[]): number {
  return points.reduce((sum, point) => sum + point[1] + point[2] + point[3], 0);
}
