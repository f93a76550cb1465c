/** How long records are kept, and how late they may arrive. Readers and the shard use the same limits. */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Older records are refused: an edge retries for seconds, not days. */
export const ARRIVAL_MAX_AGE_MS = 7 * DAY_MS;

/** The first moment that is still kept; the start of an hour. */
export function retentionHorizon(retentionDays: number, nowMs: number): number {
  return Math.floor((nowMs - retentionDays * DAY_MS) / HOUR_MS) * HOUR_MS;
}
