/**
 * Deletes logs, sessions and refused records of instances that were deleted during the last day, once an hour. The
 * deletion of an instance does this too, but after its response, and may have been cut short.
 */
import { attackWatch } from '../../store/attack-watch/client.ts';
import { instancesDeletedSince } from '../../store/d1/instances.ts';
import { telemetryLogOf } from '../../store/event-log/client/telemetry-log.ts';
import { retireLog, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import { retireRisk } from '../../store/risk-book/client/session-risk.ts';
import { dropRefusedOf } from './refused-records.ts';
import type { ServiceStore } from '../environment.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LOOK_BACK_MS = 24 * HOUR_MS;
/** About 50 calls each. One task must not use up the subrequests of the whole run. */
const INSTANCES_PER_RUN_MAX = 12;

/** Works in the first minute of an hour. With many deleted instances, each hour takes the next group of them. */
export async function retireDeletedInstances(store: ServiceStore, nowMs: number): Promise<void> {
  if (nowMs % HOUR_MS >= MINUTE_MS) return;
  const deleted = await instancesDeletedSince(store, nowMs - LOOK_BACK_MS);
  const turns = Math.max(Math.ceil(deleted.length / INSTANCES_PER_RUN_MAX), 1);
  const first = (Math.floor(nowMs / HOUR_MS) % turns) * INSTANCES_PER_RUN_MAX;
  for (const id of deleted.slice(first, first + INSTANCES_PER_RUN_MAX)) {
    await retireLog(store, verdictLogOf({ id }), nowMs);
    await retireLog(store, telemetryLogOf({ id }), nowMs);
    await retireRisk(store, id, nowMs);
    await attackWatch(store, id).retire();
    await dropRefusedOf(store, id, nowMs);
  }
}
