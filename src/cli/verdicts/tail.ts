/**
 * `gatehouse tail`: verdicts as they arrive, until Ctrl-C. It asks for what the log stored after a cursor, so a lost
 * connection or a restart of the service costs nothing: the next call goes on at the same place. Verdicts that moved to
 * the archive before a slow caller asked are read from the log itself. Memory holds one page and the ids of the newest
 * verdicts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReturnedVerdict } from '../../contract/edge/verdict-record.ts';
import { CommandError } from '../command-line.ts';
import { instanceCommand, type Commands, type Given } from '../command.ts';
import { typedNumber } from '../flag-values.ts';
import { CallError, callService, type ServiceTarget } from '../management-call.ts';
import { jsonText } from '../print/printable.ts';
import { liveTable } from '../print/table.ts';
import { filterChoices, filterFlags, filterOf, ownCallsSwitch, typicalVerdict, verdictColumns } from './verdicts.ts';

const POLL_MS = 1000;
/** A service that restarts is back within seconds; one that is down is not asked more often than this. */
const RETRY_MAX_MS = 30_000;
const LAST_MAX = 1000;

export const tailCommands: Commands = {
  tail: instanceCommand({
    about:
      'Shows verdicts as they arrive, until Ctrl-C, after the last 10 or as many as --last says. Each is shown once, also after the connection or the service was away. The filters are those of verdicts, without times; --own-calls shows the gate’s own calls too.',
    example: 'tail --decision block,challenge',
    endsItself: true,
    optional: { ...filterFlags, last: 'N' },
    switches: [ownCallsSwitch],
    choices: filterChoices,
    run: follow,
  }),
};

async function follow(given: Given): Promise<undefined> {
  const last = typedNumber('--last', given.values['last'] ?? '10');
  if (last > LAST_MAX) throw new CommandError(`--last is ${last}. Use a number up to ${LAST_MAX}.`);
  const filter = filterOf(given);
  const { signal } = given;
  const target: ServiceTarget = { ...given.target(), signal };
  const print = printer(given);
  const caughtUp = new CaughtUp(target, filter);
  try {
    const first = await callService(target, '/protect/verdicts/tail', { ...filter, limit: LAST_MAX });
    caughtUp.begin(first.verdicts, first.verdicts.length < LAST_MAX);
    await print(last === 0 ? [] : first.verdicts.slice(-last));
    let { cursor, more } = first;
    while (!signal.aborted) {
      if (!more) await sleep(POLL_MS, undefined, { signal });
      const next = await again(given, () =>
        callService(target, '/protect/verdicts/tail', { ...filter, cursor, limit: LAST_MAX }),
      );
      // Those before the page are older, so they come first.
      if (next.missed > 0) await again(given, () => caughtUp.missed(print, given.note));
      await print(caughtUp.fresh(next.verdicts));
      ({ cursor, more } = next);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}

/** Repeats a call until it succeeds, the service refuses it, or Ctrl-C. */
async function again<Response>({ note, signal }: Given, attempt: () => Promise<Response>): Promise<Response> {
  for (let waitMs = POLL_MS, isAway = false; ; waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
    try {
      const response = await attempt();
      if (isAway) note('Connected again.');
      return response;
    } catch (error) {
      if (signal.aborted || !(error instanceof CallError) || error.isRefusal) throw error;
      if (!isAway) note(`${error.message} Trying again until Ctrl-C.`);
      isAway = true;
      await sleep(waitMs, undefined, { signal });
    }
  }
}

function printer({ json, screen, write }: Given): (verdicts: readonly ReturnedVerdict[]) => Promise<void> {
  const { head, line } = liveTable(verdictColumns, typicalVerdict, screen);
  let isHeadWritten = json;
  return async (verdicts) => {
    const lines = verdicts.map((verdict) => (json ? jsonText(verdict, 0) : line(verdict)));
    if (lines.length === 0) return;
    if (!isHeadWritten) lines.unshift(head);
    isHeadWritten = true;
    await write(`${lines.join('\n')}\n`);
  };
}

/** Ids that are known to be shown, 2 MB. */
const SHOWN_MAX = 20_000;
/** Verdicts of one gap, some 20 MB. */
const GAP_MAX = 10_000;
const PAGE_ROWS = 1000;
/** A verdict arrives within seconds, and an edge that cannot reach the service keeps it for minutes. */
const LATE_MS = 300_000;

/**
 * What the live tail could not return: verdicts that the log moved to its archive before the tail asked for them, read
 * from the log by their times, without those that were shown. Memory is bounded: a gap with more verdicts than it holds is
 * named, with the command that lists them.
 */
export class CaughtUp {
  readonly #target: ServiceTarget;
  readonly #filter: object;
  /** In the order in which they were shown, oldest first. */
  readonly #shown = new Map<string, number>();
  /** What is not newer may have been shown without being in `#shown`; epoch milliseconds. */
  #forgottenMs = 0;
  #askedMs: number;
  readonly #now: () => number;

  constructor(target: ServiceTarget, filter: object, now: () => number = Date.now) {
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
      const page = await callService(this.#target, '/protect/verdicts', body);
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
