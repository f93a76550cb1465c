/**
 * Logs and sessions of instances that were deleted during the last day, retired once more every hour: the
 * deletion does so itself, but may have been cut short after the instance was gone. What was refused goes too.
 */
import { instancesDeletedSince } from '../../store/d1/instances.ts';
import { retireLog, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import { retireRisk } from '../../store/risk-book/client/session-risk.ts';
import { dropRefusedOf } from './refused-records.ts';
import type { ServiceStore } from '../environment.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LOOKED_BACK_MS = 24 * HOUR_MS;
/** Some 50 calls each: one run must not eat the sub-requests of all others. */
const INSTANCES_PER_RUN_MAX = 12;

/** In the first minute of an hour; the more there are, the later an hour's turn comes to each. */
export async function eraseDeletedLogs(store: ServiceStore, nowMs: number): Promise<void> {
  if (nowMs % HOUR_MS >= MINUTE_MS) return;
  const deleted = await instancesDeletedSince(store, nowMs - LOOKED_BACK_MS);
  const turns = Math.max(Math.ceil(deleted.length / INSTANCES_PER_RUN_MAX), 1);
  const first = (Math.floor(nowMs / HOUR_MS) % turns) * INSTANCES_PER_RUN_MAX;
  for (const id of deleted.slice(first, first + INSTANCES_PER_RUN_MAX)) {
    await retireLog(store, verdictLogOf({ id }), nowMs);
    await retireRisk(store, id, nowMs);
    await dropRefusedOf(store, id, nowMs);
  }
}
