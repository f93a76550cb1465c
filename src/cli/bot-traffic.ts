/**
 * `gatehouse bots traffic`: which bots came, what robots.txt tells them, and what they did and got, as a table. It asks
 * the management API, of a local stack or a deployed service.
 */
import type { BotTraffic, BotTrafficResponse, ImpostorTraffic } from '../contract/management/bot-traffic.ts';
import { argumentsOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { call, targetFlags, targetOf } from './management-call.ts';
import { printable } from './printable.ts';

export const botTrafficCommands = {
  'bots traffic': {
    about: 'Lists which bots came, what robots.txt tells them, and what they did and got. Without times: the last day.',
    optional: { since: 'TIME', until: 'TIME', limit: 'BOTS', ...targetFlags },
  },
} satisfies Record<string, CommandLine>;

/** `args`: the words of the command line, from `bots` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const { values } = argumentsOf('bots traffic', botTrafficCommands['bots traffic'], args.slice(2));
    const { since, until, limit } = values;
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const answer = await call(target, '/protect/bots/traffic', { since, until, limit });
    return {
      exitCode: 0,
      output: report(answer as BotTrafficResponse)
        .map(printable)
        .join('\n'),
    };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

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

function report(traffic: BotTrafficResponse): string[] {
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

/** Numbers on the right, words on the left. */
function table(columns: Row, rows: readonly Row[]): string[] {
  const shown = [columns, ...rows].map((row) => row.map(String));
  const pads = columns.map((_, at) => {
    const width = Math.max(...shown.map((row) => row[at]?.length ?? 0));
    const isNumber = rows.some((row) => typeof row[at] === 'number' || row[at]?.endsWith(' %'));
    return (cell: string) => (isNumber ? cell.padStart(width) : cell.padEnd(width));
  });
  return shown.map((row) =>
    row
      .map((cell, at) => pads[at]?.(cell))
      .join('  ')
      .trimEnd(),
  );
}
