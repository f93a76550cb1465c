/**
 * `gatehouse verdicts`: the verdict log, newest first. One page is a table, or the response of the API as JSON. `--all`
 * writes page after page, with one JSON object a line for programs, so that a log of any length needs no memory.
 */
import type { ReturnedVerdict } from '../../contract/management/returned-verdict.ts';
import { command, type Commands, type Given } from '../command.ts';
import { CommandError } from '../command-line.ts';
import { wholeNumber } from '../flag-values.ts';
import { call, CallError, type Target, targetFlags } from '../management-call.ts';
import { jsonText } from '../print/json.ts';
import type { Screen } from '../print/screen.ts';
import { liveTable, table } from '../print/table.ts';
import { filterChoices, filterFlags, filterOf, windowFlags } from './verdict-filter.ts';
import { typicalVerdict, verdictColumns } from './verdict-columns.ts';

const PAGE_ROWS_MAX = 1000;
/** A page that fails for another reason than a refusal is asked for again, after as many milliseconds. */
const RETRY_AFTER_MS = [500, 2000, 8000];

interface Page {
  verdicts: ReturnedVerdict[];
  total: number;
  totalIsExact: boolean;
  nextCursor: string | null;
}

export const verdictCommands: Commands = {
  verdicts: command({
    about:
      'Lists verdicts of the log, newest first, 50 unless --limit says otherwise. Filters with several values take them with commas; PATH may end with *. A reference finds its one verdict. --all writes every verdict that matches, as one JSON object a line where it writes JSON.',
    example: 'verdicts --since 1h --decision block',
    on: 'service',
    optional: { ...filterFlags, ...windowFlags, reference: 'REFERENCE', limit: 'N', cursor: 'CURSOR', ...targetFlags },
    switches: ['all'],
    choices: filterChoices,
    run: (given) => (given.switches.has('all') ? writeAll(given) : onePage(given)),
    print: pageLines,
  }),
};

async function onePage(given: Given): Promise<Page> {
  const limit = wholeNumber('--limit', given.values['limit'] ?? '50');
  if (limit < 1 || limit > PAGE_ROWS_MAX)
    throw new CommandError(`--limit is ${limit}. Use a number from 1 to ${PAGE_ROWS_MAX}, or --all.`);
  const body = { ...bodyOf(given), limit, cursor: given.values['cursor'] };
  return (await call(given.target(), '/protect/verdicts', body)) as Page;
}

async function writeAll(given: Given): Promise<undefined> {
  if (given.values['limit'] !== undefined) throw new CommandError('Use --limit or --all, not both.');
  const body = bodyOf(given);
  const target = given.target();
  const lines = liveTable(verdictColumns, typicalVerdict, given.screen);
  const progress = given.progress('verdicts');
  let [cursor, written] = [given.values['cursor'], 0];
  if (!given.json) await given.write(`${lines.head}\n`);
  for (;;) {
    const page = await pageAfter(target, { ...body, limit: PAGE_ROWS_MAX, cursor });
    const texts = page.verdicts.map((verdict) => (given.json ? jsonText(verdict, 0) : lines.line(verdict)));
    progress.end();
    if (texts.length > 0) await given.write(`${texts.join('\n')}\n`);
    written += texts.length;
    // Above its own lines, a bar would only be in the way.
    if (!given.screen.isTerminal)
      progress.at(written, page.totalIsExact ? page.total : null, `${written} of ${page.total}`);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  progress.end();
  return undefined;
}

async function pageAfter(target: Target, body: object): Promise<Page> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return (await call(target, '/protect/verdicts', body)) as Page;
    } catch (error) {
      const waitMs = RETRY_AFTER_MS[attempt];
      if (!(error instanceof CallError) || error.isRefusal || waitMs === undefined) throw error;
      await new Promise((wake) => setTimeout(wake, waitMs));
    }
  }
}

function bodyOf({ values }: Given): object {
  return { ...filterOf(values), requestId: values['reference'] };
}

function pageLines({ verdicts, total, totalIsExact, nextCursor }: Page, screen: Screen): string[] {
  if (verdicts.length === 0) return ['No verdict matches.'];
  const all = `${totalIsExact ? '' : 'at least '}${total}`;
  return [
    ...table(verdictColumns, verdicts, screen),
    '',
    nextCursor === null
      ? `${verdicts.length} of ${all} verdicts.`
      : `${verdicts.length} of ${all} verdicts. The next ones: --cursor ${nextCursor}, or all of them: --all`,
  ];
}
