/**
 * `npm run bench -- price`: what a script pays that has one session with an invented report, or none, and never loads a page.
 * The first table is measured against the local stack at its defaults; the second is a session that is kept for its day; the
 * third is the work alone, beside that of other products.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { riskDetectors } from '../src/contract/edge/risk-detectors.ts';
import { rounded } from './measure/statistics.ts';
import { nativeWork, stockOfSessions } from './price/native-work.ts';
import { Script } from './price/script.ts';

const PORT_BASE = 18_940;
const PIECES_OF_ALLOWANCES = [8, 24, 56];
/** For an allowance of pages. */
const CLEARANCES = 20;
const CLEARANCE_ROWS = 3;
/** Decided by the price alone: what a script writes about itself is assumed to be perfect. */
const seedChanges = { policy: { ignoredDetectors: [...riskDetectors] } };

export async function run(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-price-'));
  const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true, seedChanges });
  try {
    console.table({
      ...(await ofSession(stack, 'pages', '/')),
      ...(await ofSession(stack, 'answers', '/api/time')),
      ...(await ofClearances(stack)),
    });
    console.table(await stockOfSessions());
    console.table(await nativeWork());
  } finally {
    await stack.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function ofSession(stack: Stack, what: string, path: string): Promise<Record<string, object>> {
  const script = new Script(stack);
  // What a network has for free is the same for everyone in it.
  while ((await script.answered('/')) > 0);
  await script.openSession();
  const rows: Record<string, object> = {};
  rows[`${what}: free, for the price of a session`] = rowOf(script, await script.answered(path));
  for (const [at, pieces] of PIECES_OF_ALLOWANCES.entries()) {
    let count = 0;
    while (script.pieces < pieces) {
      // Work is due until a quarter of an allowance lies ahead.
      while (script.pieces < pieces && (await script.work()));
      count += await script.answered(path);
    }
    rows[`${what}: allowance ${at + 1}, up to ${pieces} pieces of work`] = rowOf(script, count);
  }
  return rows;
}

async function ofClearances(stack: Stack): Promise<Record<string, object>> {
  const script = new Script(stack);
  // What a network has for free is the same for everyone in it.
  await script.answered('/');
  const rows: Record<string, object> = {};
  for (let row = 1; row <= CLEARANCE_ROWS; row++) {
    let count = 0;
    for (let bought = 0; bought < CLEARANCES; bought++) {
      await script.buyClearance();
      count += await script.answered('/');
    }
    rows[`pages: no session, up to ${row * CLEARANCES} clearances`] = rowOf(script, count);
  }
  return rows;
}

function rowOf(script: Script, count: number): object {
  script.total += count;
  const spentMs = script.spentMs();
  return {
    'in all': script.total,
    'CPU-seconds in all': rounded(script.solvingMs / 1000, 3),
    'CPU-seconds for 1,000 of these': rounded(spentMs / count, 1),
    'for a CPU-second of these': Math.round((count * 1000) / spentMs),
  };
}
