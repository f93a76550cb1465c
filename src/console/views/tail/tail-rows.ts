/** What the live tail shows of the verdicts that arrive: the newest, each once, held back while somebody reads. */
import { TAIL_ROWS_MAX } from '../verdicts/verdict-filters.ts';
import type { VerdictRow } from '../verdicts/verdict-table.tsx';

export interface TailRows {
  /** Newest arrival first. */
  shown: readonly VerdictRow[];
  /** Arrived while the list is held; they go above `shown`. */
  waiting: readonly VerdictRow[];
  /** Why the list is not everything that arrived. */
  skipped: { missed: number; hasJumped: boolean };
}

export const noRows: TailRows = { shown: [], waiting: [], skipped: { missed: 0, hasJumped: false } };

/** @param arrived in the order of arrival, as the API returns it. */
export function withArrived(rows: TailRows, arrived: readonly VerdictRow[], isHeld: boolean): TailRows {
  const known = new Set([...rows.shown, ...rows.waiting].map(({ id }) => id));
  const fresh = arrived.filter(({ id }) => !known.has(id)).toReversed();
  if (fresh.length === 0) return rows;
  const waiting = [...fresh, ...rows.waiting].slice(0, TAIL_ROWS_MAX);
  return isHeld ? { ...rows, waiting } : released({ ...rows, waiting });
}

export function released(rows: TailRows): TailRows {
  if (rows.waiting.length === 0) return rows;
  return { ...rows, shown: [...rows.waiting, ...rows.shown].slice(0, TAIL_ROWS_MAX), waiting: [] };
}

export function withSkipped(rows: TailRows, { missed = 0, hasJumped = false }): TailRows {
  if (missed === 0 && !hasJumped) return rows;
  const { skipped } = rows;
  return {
    ...rows,
    skipped: { missed: skipped.missed + missed, hasJumped: skipped.hasJumped || hasJumped },
  };
}
