/**
 * A list that nobody reads well any more: its publisher fails, or sends what is not taken, or nobody asks. A failure alone
 * is no news, because the next attempt may be good.
 */
import type { StoredList } from '../../../store/d1/rule-lists.ts';
import type { Seen, StateSource } from './source.ts';

const MINUTE_MS = 60_000;
/** Over the list's interval. Four attempts fail in this time. */
const LATE_MS = 60 * MINUTE_MS;

export const listStale: StateSource = {
  kind: 'list-stale',
  beginsAfterMs: 0,
  endsAfterMs: 0,
  see: ({ lists, nowMs }) =>
    lists.flatMap((list): Seen[] => {
      const reason = reasonOf(list, nowMs);
      if (reason === null) return [];
      const readAt = list.confirmedAt === null ? 'never' : new Date(list.confirmedAt).toISOString();
      return [{ subject: list.name, facts: { list: list.name, reason, readAt, error: list.error ?? '' } }];
    }),
};

function reasonOf(list: StoredList, nowMs: number): 'expired' | 'failing' | 'overdue' | null {
  const { isExpired, failures, confirmedAt, createdAt, dueAt, settings } = list;
  if (isExpired) return 'expired';
  const lateAt = (confirmedAt ?? createdAt) + settings.intervalMinutes * MINUTE_MS + LATE_MS;
  if (failures > 0 && nowMs > lateAt) return 'failing';
  return dueAt !== null && nowMs > dueAt + LATE_MS ? 'overdue' : null;
}
