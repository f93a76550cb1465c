/**
 * `npm run bench -- rule-book [RULES]`: a book of a million rules behind the local stack. Prints how long the import, a
 * page and the whole list take, and how long until one changed rule is enforced at the running edge (target: at most
 * 2 s). The floor is the same change in an empty book.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { manage } from '../test/support/manage.ts';
import { median } from './measure/statistics.ts';
import { importRules, RULES_PER_CALL } from './rules/import-rules.ts';

const LIST = '/protect/access-rules';
const RULES_DEFAULT = 1_000_000;
const CHANGES_TIMED = 5;
const ENFORCED_WITHIN_MS = 30_000;
const PORT_BASE = 25_030;

export async function run(args: readonly string[]): Promise<void> {
  const count = Number(args[0] ?? RULES_DEFAULT);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true });
  try {
    const floor = await timeChanges(stack, 0);
    const importMs = await timed(() => importRules(stack, addressRules(count)));
    const enforcedAfterImportMs = await timeUntilBlocked(stack, address(count - 1));
    const changed = await timeChanges(stack, CHANGES_TIMED);
    const page = await timed(() => manage(stack, LIST, { limit: 100, valuePrefix: '9.' }));
    const matches = await timed(() => manage(stack, LIST, { matches: { ip: address(count >> 1) } }));
    const listed = await timed(() => manage(stack, LIST, {}));
    console.table({
      'rules stored': { value: count },
      'import, ms': { value: importMs, 'per 10,000': Math.round((importMs / count) * RULES_PER_CALL) },
      'last imported rule enforced, ms after': { value: enforcedAfterImportMs },
      'one changed rule enforced, ms (median)': { value: changed, 'ratio to empty book': (changed / floor).toFixed(2) },
      'the same in an empty book, ms': { value: floor },
      'page of 100 by prefix, ms': { value: page },
      'rules that match an address, ms': { value: matches },
      'the whole list streamed, ms': { value: listed },
    });
  } finally {
    await stack.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Distinct addresses, spread like those of a real list. */
function address(n: number): string {
  return `${1 + (n >>> 16)}.${(n >>> 8) & 255}.${n & 255}.${(n * 7) & 255}`;
}

function* addressRules(count: number) {
  for (let n = 0; n < count; n++) yield { type: 'ip' as const, value: address(n), verdict: 'block' as const };
}

async function timeChanges(stack: Stack, offset: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < CHANGES_TIMED; i += 1) {
    const value = `250.0.0.${offset + i}`;
    await manage(stack, `${LIST}/create`, { rules: [{ type: 'ip', value, verdict: 'block' }] });
    times.push(await timeUntilBlocked(stack, value));
  }
  return median(times);
}

/** Milliseconds from the response to the change until the edge blocks, while visitors keep coming as on a live site. */
async function timeUntilBlocked(stack: Stack, ip: string): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < ENFORCED_WITHIN_MS) {
    const response = await fetch(`${stack.edgeUrl}/robots.txt`, {
      headers: { 'x-signals-secret': stack.signalsSecret, 'x-client-ip': ip, 'user-agent': 'bench' },
    });
    await response.arrayBuffer();
    if (response.headers.get('x-protect-decision') === 'block') return Math.round(performance.now() - started);
    await new Promise((wake) => setTimeout(wake, 20));
  }
  throw new Error(`${ip} is not blocked after ${ENFORCED_WITHIN_MS} ms`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return Math.round(performance.now() - started);
}
