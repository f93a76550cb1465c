/** `gatehouse top DIMENSION`: the values of a dimension with the most requests, and all other values together. */
import { epochMsOf } from '../../contract/management/time.ts';
import { verdictDimensions } from '../../contract/management/verdict-query.ts';
import { decisions } from '../../contract/vocabulary.ts';
import { CommandError } from '../command-line.ts';
import { instanceCommand, type Commands } from '../command.ts';
import { listOf, timeOf, typedNumber } from '../flag-values.ts';
import { callService, type ResponseAt } from '../management-call.ts';
import type { Screen } from '../print/screen.ts';
import { table, timeText } from '../print/table.ts';
import { ownCallsSwitch, windowFlags } from './verdicts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Traffic = ResponseAt<'/protect/traffic-by-dimension'>;

/** Names without their second word, which people try first. */
const shortNames: Readonly<Record<string, string>> = {
  path: 'request_path',
  rule: 'fired_rule',
  device: 'device_type',
  category: 'ip_category',
  agent: 'user_agent',
  proof: 'bot_proof',
};
const named = verdictDimensions.filter((name) => name !== 'none');

export const topCommands: Commands = {
  top: instanceCommand({
    about: `Lists the values with the most requests, in the last day or since TIME. DIMENSION is one of ${named.join(', ')}. The window is widened to whole minutes, hours or days. The gate’s own calls are left out unless --own-calls counts them.`,
    example: 'top asn --since 1h --decision block',
    positionals: ['DIMENSION'],
    optional: { decision: decisions.join('|'), ...windowFlags, limit: 'N' },
    switches: [ownCallsSwitch],
    choices: { DIMENSION: [...named, ...Object.keys(shortNames)] },
    run: ({ positionals: [word = ''], values, switches, target }) => {
      const since = timeOf('--since', values['since']);
      const until = timeOf('--until', values['until']);
      const body = {
        groupBy: dimensionOf(word),
        since,
        until,
        bucket: bucketFor(since, until),
        topN: typedNumber('--limit', values['limit'] ?? '10'),
        decision: listOf(values['decision']),
        includeInternal: switches.has(ownCallsSwitch),
      };
      return callService(target(), '/protect/traffic-by-dimension', body);
    },
    print: trafficLines,
  }),
};

function dimensionOf(word: string): string {
  const name = shortNames[word] ?? word.replaceAll('-', '_');
  if (named.some((one) => one === name)) return name;
  throw new CommandError(`${word} is no dimension. Use one of: ${named.join(', ')}.`);
}

/** As exact as the length of the window allows. */
function bucketFor(since: string | undefined, until: string | undefined): string {
  const end = msOf(until) ?? Date.now();
  const length = end - (msOf(since) ?? end - DAY_MS);
  if (length <= 6 * HOUR_MS) return 'minute';
  return length <= 31 * DAY_MS ? 'hour' : 'day';
}

function msOf(time: string | undefined): number | null {
  return time === undefined ? null : epochMsOf(time);
}

type Row = Pick<Traffic['series'][number], 'value' | 'total' | 'allow' | 'challenge' | 'block'>;

function trafficLines(traffic: Traffic, screen: Screen): string[] {
  const { groupBy, total, series, other, isExact } = traffic;
  const when = `between ${timeText(traffic.since)} and ${timeText(traffic.until)} UTC`;
  if (total === 0) return [`No requests ${when}.`];
  const rest: Row[] = other.values === 0 ? [] : [{ ...other, value: `${other.values} others` }];
  return [
    `${total} requests ${when}:`,
    '',
    ...table<Row>(
      [
        { title: groupBy.toUpperCase().replaceAll('_', ' '), cell: ({ value }) => nameOf(groupBy, value) },
        { title: 'REQUESTS', cell: (row) => row.total },
        { title: 'SHARE', cell: (row) => `${((row.total / total) * 100).toFixed(1)} %` },
        { title: 'ALLOWED', cell: ({ allow }) => allow, isExtra: true },
        { title: 'CHALLENGED', cell: ({ challenge }) => challenge, isExtra: true },
        { title: 'BLOCKED', cell: ({ block }) => block, isExtra: true },
      ],
      [...series, ...rest],
      screen,
    ),
    ...(isExact
      ? []
      : ['', 'An hour had more different values than the log counts one by one. The surplus is among the others.']),
  ];
}

function nameOf(groupBy: string, value: string | null): string {
  if (value === null) return 'none';
  return groupBy === 'asn' && /^\d+$/.test(value) ? `AS${value}` : value;
}
