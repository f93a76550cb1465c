/**
 * What the live tail could not return: verdicts that the log moved to its archive before the tail asked for them. They
 * are read from the log by their times, without those that were shown. Its memory is bounded: a gap with more verdicts
 * than it holds is named, with the command that lists them.
 */
import type { ReturnedVerdict } from '../../contract/management/returned-verdict.ts';
import { call, type Target } from '../management-call.ts';

/** Ids that are known to be shown, 2 MB. */
const SHOWN_MAX = 20_000;
/** Verdicts of one gap, some 20 MB. */
const GAP_MAX = 10_000;
const PAGE_ROWS = 1000;
/** A verdict arrives within seconds, and an edge that cannot reach the service keeps it for minutes. */
const LATE_MS = 300_000;

interface Page {
  verdicts: ReturnedVerdict[];
  nextCursor: string | null;
}

export class CaughtUp {
  readonly #target: Target;
  readonly #filter: object;
  /** In the order in which they were shown, oldest first. */
  readonly #shown = new Map<string, number>();
  /** What is not newer may have been shown without being in `#shown`; epoch milliseconds. */
  #forgottenMs = 0;
  #askedMs: number;
  readonly #now: () => number;

  constructor(target: Target, filter: object, now: () => number = Date.now) {
    this.#target = target;
    this.#filter = filter;
    this.#now = now;
    this.#askedMs = now();
  }

  /** The newest verdicts before the tail begins. `isAll`: there are no older ones. */
  begin(verdicts: readonly ReturnedVerdict[], isAll: boolean): void {
    this.fresh(verdicts);
    if (!isAll) this.#forgottenMs = Math.min(...verdicts.map(({ timestamp }) => timestamp));
  }

  /** Those that were not shown before, which are shown now. */
  fresh(verdicts: readonly ReturnedVerdict[]): ReturnedVerdict[] {
    this.#askedMs = this.#now();
    const fresh = verdicts.filter(({ id }) => !this.#shown.has(id));
    for (const { id, timestamp } of fresh) this.#shown.set(id, timestamp);
    for (const [id, timestamp] of this.#shown) {
      if (this.#shown.size <= SHOWN_MAX) break;
      this.#shown.delete(id);
      this.#forgottenMs = Math.max(this.#forgottenMs, timestamp);
    }
    return fresh;
  }

  /** Shows the verdicts of the gap since the last call, oldest first. */
  async missed(
    show: (verdicts: readonly ReturnedVerdict[]) => Promise<void>,
    note: (line: string) => void,
  ): Promise<void> {
    const since = Math.max(this.#askedMs - LATE_MS, this.#forgottenMs + 1);
    const until = this.#now();
    const found: ReturnedVerdict[] = [];
    let cursor: string | undefined;
    do {
      const body = { ...this.#filter, since, until, limit: PAGE_ROWS, cursor };
      const page = (await call(this.#target, '/protect/verdicts', body)) as Page;
      found.push(...page.verdicts.filter(({ id }) => !this.#shown.has(id)));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && found.length < GAP_MAX);
    if (cursor !== undefined) {
      const times = `--since ${new Date(since).toISOString()} --until ${new Date(until).toISOString()}`;
      note(
        `More than ${GAP_MAX} verdicts arrived meanwhile; the oldest are not shown. List them with: verdicts --all ${times}`,
      );
    }
    await show(this.fresh(found.toReversed()));
  }
}
