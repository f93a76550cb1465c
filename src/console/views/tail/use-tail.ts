/**
 * Polls the live tail while the page is visible. A page that falls behind starts again from the newest verdicts and says
 * so, instead of showing older and older ones.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type Refusal } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { TAIL_ROWS_MAX } from '../verdicts/verdict-filters.ts';
import type { VerdictRow } from '../verdicts/verdict-table.tsx';

const PATH = '/protect/verdicts/tail';
const POLL_EVERY_MS = 2000;
/** After a refusal, and after a call that did not arrive. */
const RETRY_EVERY_MS = 10_000;

interface TailState {
  rows: TailRows;
  error: Refusal | null;
  /** `false` until the first response. */
  hasStarted: boolean;
}

export interface TailOptions {
  /** Nothing is asked. */
  isPaused: boolean;
  /** New verdicts wait, so that the list stands still. */
  isHeld: boolean;
}

/** @param body `null` asks nothing. Another body starts an empty list. */
export function useTail(body: RequestOf<typeof PATH> | null, { isPaused, isHeld }: TailOptions): TailState {
  const [tail, setTail] = useState<TailState>({ rows: noRows, error: null, hasStarted: false });
  const cursor = useRef<string | null>(null);
  const held = useRef(isHeld);
  held.current = isHeld;
  const asked = body === null ? null : JSON.stringify(body);
  useEffect(() => {
    cursor.current = null;
    setTail({ rows: noRows, error: null, hasStarted: false });
  }, [asked]);
  useEffect(() => {
    if (!isHeld) setTail((former) => ({ ...former, rows: released(former.rows) }));
  }, [isHeld]);
  useEffect(() => {
    if (asked === null || isPaused) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (isAsking || document.visibilityState !== 'visible') return;
      isAsking = true;
      clearTimeout(timer);
      const wasAt = cursor.current;
      const place = wasAt === null ? {} : { cursor: wasAt };
      const filters = JSON.parse(asked) as RequestOf<typeof PATH>;
      const answer = await call(PATH, { ...filters, ...place }, controller.signal);
      isAsking = false;
      if (controller.signal.aborted) return;
      timer = setTimeout(again, answer.ok ? POLL_EVERY_MS : RETRY_EVERY_MS);
      if (!answer.ok) {
        // A refused place is given up.
        if (answer.error.status === 400) cursor.current = null;
        setTail((former) => ({ ...former, error: answer.error }));
        return;
      }
      const { verdicts, more, missed } = answer.value;
      const hasJumped = more && wasAt !== null;
      cursor.current = hasJumped ? null : answer.value.cursor;
      setTail(({ rows }) => ({
        rows: withSkipped(withArrived(rows, verdicts, held.current), { missed, hasJumped }),
        error: null,
        hasStarted: true,
      }));
    };
    // Only an aborted call throws.
    const again = () => void ask().catch(() => undefined);
    again();
    document.addEventListener('visibilitychange', again);
    return () => {
      controller.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [asked, isPaused]);
  return tail;
}

/** What the live tail shows of the verdicts that arrive: the newest, each once, held back while somebody reads. */
export interface TailRows {
  /** Newest arrival first. */
  shown: readonly VerdictRow[];
  /** Arrived while the list is held; they go above `shown`. */
  waiting: readonly VerdictRow[];
  /** Why the list is not everything that arrived. */
  skipped: { missed: number; hasJumped: boolean };
}

const noRows: TailRows = { shown: [], waiting: [], skipped: { missed: 0, hasJumped: false } };

/** @param arrived in the order of arrival, as the API returns it. */
function withArrived(rows: TailRows, arrived: readonly VerdictRow[], isHeld: boolean): TailRows {
  const known = new Set([...rows.shown, ...rows.waiting].map(({ id }) => id));
  const fresh = arrived.filter(({ id }) => !known.has(id)).toReversed();
  if (fresh.length === 0) return rows;
  const waiting = [...fresh, ...rows.waiting].slice(0, TAIL_ROWS_MAX);
  return isHeld ? { ...rows, waiting } : released({ ...rows, waiting });
}

function released(rows: TailRows): TailRows {
  if (rows.waiting.length === 0) return rows;
  return { ...rows, shown: [...rows.waiting, ...rows.shown].slice(0, TAIL_ROWS_MAX), waiting: [] };
}

function withSkipped(rows: TailRows, { missed = 0, hasJumped = false }): TailRows {
  if (missed === 0 && !hasJumped) return rows;
  const { skipped } = rows;
  return {
    ...rows,
    skipped: { missed: skipped.missed + missed, hasJumped: skipped.hasJumped || hasJumped },
  };
}
