/**
 * `gatehouse tail`: verdicts as they arrive, until Ctrl-C. It asks for what the log stored after a cursor, so a lost
 * connection or a restart of the service costs nothing: the next call goes on at the same place. Verdicts that moved to
 * the archive before a slow caller asked are read from the log itself. Memory holds one page and the ids of the newest
 * verdicts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReturnedVerdict } from '../../contract/management/returned-verdict.ts';
import { command, type Commands, type Given } from '../command.ts';
import { CommandError } from '../command-line.ts';
import { wholeNumber } from '../flag-values.ts';
import { call, CallError, type Target, targetFlags } from '../management-call.ts';
import { jsonText } from '../print/json.ts';
import { liveTable } from '../print/table.ts';
import { CaughtUp } from './catch-up.ts';
import { filterChoices, filterFlags, filterOf } from './verdict-filter.ts';
import { typicalVerdict, verdictColumns } from './verdict-columns.ts';

const POLL_MS = 1000;
/** A service that restarts is back within seconds; one that is down is not asked more often than this. */
const RETRY_MAX_MS = 30_000;
const LAST_MAX = 1000;

interface Tailed {
  verdicts: ReturnedVerdict[];
  cursor: string;
  more: boolean;
  missed: number;
}

export const tailCommands: Commands = {
  tail: command({
    about:
      'Shows verdicts as they arrive, until Ctrl-C, after the last 10 or as many as --last says. Each is shown once, also after the connection or the service was away. The filters are those of verdicts, without times.',
    example: 'tail --decision block,challenge',
    on: 'service',
    endsItself: true,
    optional: { ...filterFlags, last: 'N', ...targetFlags },
    choices: filterChoices,
    run: follow,
  }),
};

async function follow(given: Given): Promise<undefined> {
  const last = wholeNumber('--last', given.values['last'] ?? '10');
  if (last > LAST_MAX) throw new CommandError(`--last is ${last}. Use a number up to ${LAST_MAX}.`);
  const filter = filterOf(given.values);
  const { signal } = given;
  const target: Target = { ...given.target(), signal };
  const print = printer(given);
  const caughtUp = new CaughtUp(target, filter);
  try {
    const first = (await call(target, '/protect/verdicts/tail', { ...filter, limit: LAST_MAX })) as Tailed;
    caughtUp.begin(first.verdicts, first.verdicts.length < LAST_MAX);
    await print(last === 0 ? [] : first.verdicts.slice(-last));
    let { cursor, more } = first;
    while (!signal.aborted) {
      if (!more) await sleep(POLL_MS, undefined, { signal });
      const next = await again(given, () =>
        call(target, '/protect/verdicts/tail', { ...filter, cursor, limit: LAST_MAX }),
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
async function again<Response = Tailed>({ note, signal }: Given, attempt: () => Promise<unknown>): Promise<Response> {
  for (let waitMs = POLL_MS, isAway = false; ; waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
    try {
      const response = (await attempt()) as Response;
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
