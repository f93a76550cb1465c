/**
 * `npm run bench -- neighbours [ATTACK…] [--attackers N,N] [--networks N]`: what newcomers of a network notice while
 * somebody in it sends each attack for ten minutes: from one address, and from every address that no newcomer has. Edge and
 * service are the real ones and their time is simulated. Beside a /24, the same in a /56, whose /64s are its addresses.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '../src/cli/stack.ts';
import { bundleWithClock, type Neighbours, startNeighbours } from './neighbours/start-neighbours.ts';
import { type AttackName, attackNames, type NeighboursResult } from './neighbours/plan.ts';

const PORT_BASE = 18_960;
const SECONDS = 600;
/**
 * The reserves of a network are 60 first pages in ten minutes, and two for each address. With a hundred newcomers, some
 * would meet a challenge on a quiet day.
 */
const NEWCOMERS = { newcomers: 50, addresses: 25 };
const HOSTS = 256;
const titles: Readonly<Record<AttackName, string>> = {
  posts: 'empty posts to the gate’s own addresses, 120 a second',
  pages: 'pages without a session, 50 a second',
  asked: 'challenges that nobody solves, 10 a second',
  refused: 'requests of a tool, each refused, 120 a second',
  cookies: 'one session’s cookie from all addresses, and planted, 5 a second',
  wrong: 'wrong solutions, 5 a second',
  files: 'pages asked for as files, data asked for as pages, 50 a second',
  solved: 'sessions that are opened and solved, 2 a second',
};

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { attackers: { type: 'string' }, networks: { type: 'string' } },
  });
  const attacks = (positionals.length > 0 ? positionals : attackNames) as readonly AttackName[];
  const attackers = values.attackers?.split(',').map(Number) ?? [1, HOSTS - NEWCOMERS.addresses];
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-neighbours-'));
  const stack = await startStack({
    portBase: PORT_BASE,
    stateDir,
    quiet: true,
    fresh: true,
    schedule: false,
    bundle: bundleWithClock,
  });
  try {
    const neighbours = await startNeighbours(stack);
    try {
      for (const attack of [null, ...attacks])
        await measure(neighbours, attack, attackers, Number(values.networks ?? 1));
    } finally {
      await neighbours.stop();
    }
  } finally {
    await stack.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function measure(
  neighbours: Neighbours,
  attack: AttackName | null,
  attackerCounts: readonly number[],
  networks: number,
): Promise<void> {
  process.stdout.write(`\n${attack === null ? 'a quiet day' : titles[attack]}\n`);
  const rows: Record<string, object> = {};
  for (const family of [4, 6] as const) {
    for (const attackers of attack === null ? [0] : attackerCounts) {
      const results: NeighboursResult[] = [];
      for (let count = 0; count < networks; count++) {
        results.push(await neighbours.run({ attack, family, attackers, seconds: SECONDS, ...NEWCOMERS }));
      }
      rows[`${family === 4 ? '/24' : '/56'}, ${attackers} of ${HOSTS}`] = rowOf(results);
    }
  }
  console.table(rows);
}

function rowOf(results: readonly NeighboursResult[]): object {
  const visits = results.flatMap((result) => result.visits);
  const refused = visits.flatMap((visit) => visit.refused ?? []);
  const answered = results.reduce((sum, { statuses }) => sum + (statuses[200] ?? 0), 0);
  const range = (prices: readonly number[]): string =>
    [...new Set([Math.min(...prices), Math.max(...prices)])].join(' to ');
  return {
    sent: results.reduce((sum, { sent }) => sum + sent, 0),
    'of them 200': answered,
    'squarings solved': results.reduce((sum, { solved }) => sum + solved, 0),
    newcomers: visits.length,
    refused: refused.length,
    what: [...new Set(refused)].join('; '),
    'price of a session': range(visits.filter((visit) => visit.sessionPrice > 0).map((visit) => visit.sessionPrice)),
    'of a form': range(visits.filter((visit) => visit.formPrice > 0).map((visit) => visit.formPrice)),
  };
}
