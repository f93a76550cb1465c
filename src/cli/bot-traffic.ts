/**
 * `gatehouse bots traffic`: which bots came, what robots.txt tells them, and what they did and got, as a table. It asks
 * the management API, of a local stack or a deployed service.
 */
import type { BotTraffic, BotTrafficResponse, ImpostorTraffic } from '../contract/management/bot-traffic.ts';
import { command, type Commands } from './command.ts';
import { call, targetFlags } from './management-call.ts';
import { type Column, table as tableOf } from './print/table.ts';
import { windowOf } from './time-flag.ts';
import type { Screen } from './print/screen.ts';

export const botTrafficCommands: Commands = {
  'bots traffic': command({
    about: 'Lists which bots came, what robots.txt tells them, and what they did and got. Without times: the last day.',
    example: 'bots traffic',
    on: 'service',
    optional: { since: 'TIME', until: 'TIME', limit: 'BOTS', ...targetFlags },
    run: (given) => {
      const body = { ...windowOf(given.values), limit: given.values['limit'] };
      return call(given.target(), '/protect/bots/traffic', body) as Promise<BotTrafficResponse>;
    },
    print: report,
  }),
};

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.001 ? 3 : 1)} %`;
const isoTime = (ms: number): string => new Date(ms).toISOString();

type Row = readonly (string | number)[];

const botColumns: Row = [
  'Bot',
  'Comes for',
  'Requests',
  'Share',
  'Range',
  'DNS',
  'Signature',
  'Claimed',
  'Allowed',
  'Challenged',
  'Blocked',
  'Charged',
  'robots.txt allows',
  'Came anyway',
];
const impostorColumns: Row = ['Impostor of', 'Requests', 'Share', 'Allowed', 'Challenged', 'Blocked', 'Charged'];

function botRow(bot: BotTraffic): Row {
  const { range, dns, signature, claimed } = bot.proofs;
  return [
    bot.id,
    bot.behaviours.join(', '),
    bot.total,
    percent(bot.share),
    range,
    dns,
    signature,
    claimed,
    ...gotOf(bot),
    bot.robots?.extent ?? 'not known',
    bot.robots?.disallowed ?? 'not known',
  ];
}

function gotOf({ allow, challenge, block, charge }: ImpostorTraffic | BotTraffic): number[] {
  return [allow, challenge, block, charge];
}

function report(traffic: BotTrafficResponse, screen: Screen): string[] {
  const table = (titles: Row, rows: readonly Row[]): string[] => tableOf(columnsOf(titles), rows, screen);
  const { bots, impostors, other, isExact, robotsIsExact } = traffic;
  const examples = bots.flatMap(({ id, robots }) =>
    (robots?.examples ?? []).map(({ host, path, rule, total }) => [id, total, `${host}${path}`, rule]),
  );
  return [
    `Of ${traffic.total} requests between ${isoTime(traffic.since)} and ${isoTime(traffic.until)}:`,
    '',
    ...(bots.length === 0 ? ['No bot came.'] : table(botColumns, bots.map(botRow))),
    ...(examples.length === 0 ? [] : ['', ...table(['Came anyway', 'Requests', 'Path', 'Against'], examples)]),
    ...(impostors.length === 0
      ? []
      : [
          '',
          ...table(
            impostorColumns,
            impostors.map((one) => [one.id, one.total, percent(one.share), ...gotOf(one)]),
          ),
        ]),
    ...(other.bots === 0 ? [] : ['', `${other.bots} more with ${other.total} requests. List them with --limit.`]),
    ...(isExact ? [] : ['', 'More bots came in an hour than the log counts one by one.']),
    ...(robotsIsExact ? [] : ['', 'Only the paths with most requests were compared with robots.txt.']),
  ];
}

function columnsOf(titles: Row): Column<Row>[] {
  return titles.map((title, at) => ({ title: String(title), cell: (row) => row[at] }));
}
