/**
 * `gatehouse verdicts`: the verdict log, newest first. One page is a table, or the response of the API as JSON. `--all`
 * writes page after page, with one JSON object a line for programs, so that a log of any length needs no memory. Filters
 * and columns are those of `gatehouse tail` too.
 */
import type { ReturnedVerdict } from '../../contract/edge/verdict-record.ts';
import { botProofs, decisions, deviceTypes, verdictSources } from '../../contract/vocabulary.ts';
import { CommandError } from '../command-line.ts';
import { instanceCommand, type Commands, type Given } from '../command.ts';
import { listOf, optionalNumber, typedNumber, windowFields } from '../flag-values.ts';
import { CallError, callService, type ResponseAt, type ServiceTarget } from '../management-call.ts';
import { jsonText } from '../print/printable.ts';
import type { Screen } from '../print/screen.ts';
import { decisionStyle, liveTable, table, timeText, type TextColumn } from '../print/table.ts';

const PAGE_ROWS_MAX = 1000;
/** A page that fails for another reason than a refusal is asked for again, after as many milliseconds. */
const RETRY_AFTER_MS = [500, 2000, 8000];

/** Of every command that reads verdicts. A flag with several values takes them with commas. */
export const filterFlags = {
  decision: decisions.join('|'),
  ip: 'ADDRESS',
  path: 'PATH',
  session: 'ID',
  source: 'A,B',
  rule: 'ID,ID',
  asn: 'NUMBER,NUMBER',
  device: deviceTypes.join('|'),
  bot: 'ID,ID',
  proof: botProofs.join('|'),
  'min-rules': 'N',
} as const;

/** Shows the gate's own calls (`/__protect/*`) beside the requests of visitors. */
export const ownCallsSwitch = 'own-calls';

export const windowFlags = { since: 'TIME', until: 'TIME' } as const;

export const filterChoices = { source: verdictSources } as const;

export function filterOf({ values, switches }: Pick<Given, 'values' | 'switches'>): object {
  const sources = listOf(values['source']);
  return {
    includeInternal: switches.has(ownCallsSwitch) || sources?.includes('internal') === true,
    decision: listOf(values['decision']),
    ip: values['ip'],
    requestPath: values['path'],
    jti: values['session'],
    sources,
    firedRules: listOf(values['rule']),
    asn: listOf(values['asn']),
    deviceType: listOf(values['device']),
    bot: listOf(values['bot']),
    proof: listOf(values['proof']),
    minRulesFired: optionalNumber('--min-rules', values['min-rules']),
    ...windowFields(values),
  };
}

/** One verdict as a line of a table, for `gatehouse verdicts` and `gatehouse tail`. */
export const verdictColumns: readonly TextColumn<ReturnedVerdict>[] = [
  { title: 'TIME (UTC)', cell: ({ timestamp }) => timeText(timestamp), isWhole: true },
  { title: 'DECISION', cell: ({ decision }) => decision, style: decisionStyle, isWhole: true },
  { title: 'ADDRESS', cell: ({ ip }) => ip, isExtra: true, least: 15 },
  { title: 'REQUEST', cell: ({ method, host, request_path }) => `${method} ${host}${request_path}`, least: 20 },
  { title: 'WHY', cell: ({ reason, decided_by: by }) => reason ?? by, isExtra: true, least: 20 },
  { title: 'FROM', cell: ({ country, asn }) => fromText(country, asn), isExtra: true, least: 10 },
  { title: 'STATUS', cell: ({ status }) => status, isExtra: true },
  { title: 'REFERENCE', cell: ({ request_id }) => request_id, isWhole: true },
];

/** Of usual length: rows that come one by one have its widths. */
export const typicalVerdict = {
  timestamp: 0,
  decision: 'challenge',
  status: 200,
  ip: '203.0.113.255',
  country: 'DE',
  asn: 64_496,
  method: 'GET',
  host: 'www.example.com',
  request_path: '/a-path/of-usual-length',
  reason: 'An access rule is for user agents with badbot',
  request_id: '01a20432-74c6-7eac-be38-d521a187cda6',
} as unknown as ReturnedVerdict;

function fromText(country: string | null, asn: number | null): string | null {
  const known = [country, asn === null ? null : `AS${asn}`].filter((part) => part !== null);
  return known.length === 0 ? null : known.join(' ');
}

type Page = ResponseAt<'/protect/verdicts'>;

export const verdictCommands: Commands = {
  verdicts: instanceCommand({
    about:
      'Lists verdicts of the log, newest first, 50 unless --limit says otherwise. Filters with several values take them with commas; PATH may end with *. A reference finds its one verdict. The gate’s own calls are left out unless --own-calls shows them. --all writes every verdict that matches, as one JSON object a line where it writes JSON.',
    example: 'verdicts --since 1h --decision block',
    optional: { ...filterFlags, ...windowFlags, reference: 'REFERENCE', limit: 'N', cursor: 'CURSOR' },
    switches: ['all', ownCallsSwitch],
    choices: filterChoices,
    run: (given) => (given.switches.has('all') ? writeAll(given) : onePage(given)),
    print: pageLines,
  }),
};

async function onePage(given: Given): Promise<Page> {
  const limit = typedNumber('--limit', given.values['limit'] ?? '50');
  if (limit < 1 || limit > PAGE_ROWS_MAX)
    throw new CommandError(`--limit is ${limit}. Use a number from 1 to ${PAGE_ROWS_MAX}, or --all.`);
  const body = { ...bodyOf(given), limit, cursor: given.values['cursor'] };
  return await callService(given.target(), '/protect/verdicts', body);
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

async function pageAfter(target: ServiceTarget, body: object): Promise<Page> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await callService(target, '/protect/verdicts', body);
    } catch (error) {
      const waitMs = RETRY_AFTER_MS[attempt];
      if (!(error instanceof CallError) || error.isRefusal || waitMs === undefined) throw error;
      await new Promise((wake) => setTimeout(wake, waitMs));
    }
  }
}

function bodyOf(given: Given): object {
  const { reference } = given.values;
  // A reference is of one request, whosever it is.
  return { ...filterOf(given), ...(reference === undefined ? {} : { requestId: reference, includeInternal: true }) };
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
