/**
 * `npm run bench -- rule-book [RULES]`: a book of a million rules behind the local stack. Prints how long the
 * import takes, how long a page and the whole list take, and how long one changed rule takes to be
 * enforced at the running edge (design 11: at most 2 s). The floor is the same change in an empty book.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../src/cli/stack.ts';
import type { Stack } from '../src/cli/stack.ts';

const RULES_DEFAULT = 1_000_000;
const RULES_PER_CALL = 10_000;
const CHANGES_TIMED = 5;
const ENFORCED_TIMEOUT_MS = 30_000;
const PORT_BASE_DEFAULT = 25_030;

export async function run(args: readonly string[]): Promise<void> {
  const count = Number(args[0] ?? RULES_DEFAULT);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stack = await startStack({ portBase: PORT_BASE_DEFAULT, stateDir, quiet: true, fresh: true });
  try {
    const floor = await timeChanges(stack, 0);
    const importMs = await importRules(stack, count);
    const enforcedAfterImportMs = await timeUntilBlocked(stack, address(count - 1));
    const changed = await timeChanges(stack, CHANGES_TIMED);
    const page = await timed(() => manage(stack, '', { limit: 100, valuePrefix: '9.' }));
    const matches = await timed(() => manage(stack, '', { matches: { ip: address(count >> 1) } }));
    const listed = await timed(() => manage(stack, '', {}));
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

/** Distinct public-looking addresses, spread as a real list is. */
function address(n: number): string {
  return `${1 + (n >>> 16)}.${(n >>> 8) & 255}.${n & 255}.${(n * 7) & 255}`;
}

async function importRules(stack: Stack, count: number): Promise<number> {
  const started = performance.now();
  for (let from = 0; from < count; from += RULES_PER_CALL) {
    const size = Math.min(RULES_PER_CALL, count - from);
    const rules = Array.from({ length: size }, (_, i) => ({ type: 'ip', value: address(from + i), verdict: 'block' }));
    await manage(stack, '/create', { rules });
  }
  return Math.round(performance.now() - started);
}

async function timeChanges(stack: Stack, offset: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < CHANGES_TIMED; i += 1) {
    const value = `250.0.0.${offset + i}`;
    await manage(stack, '/create', { rules: [{ type: 'ip', value, verdict: 'block' }] });
    times.push(await timeUntilBlocked(stack, value));
  }
  return times.toSorted((a, b) => a - b)[CHANGES_TIMED >> 1] ?? 0;
}

/** Visitors come all the time, as on a live site; the clock starts when the change was acknowledged. */
async function timeUntilBlocked(stack: Stack, ip: string): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < ENFORCED_TIMEOUT_MS) {
    const response = await fetch(`${stack.edgeUrl}/robots.txt`, {
      headers: { 'x-signals-secret': stack.signalsSecret, 'x-client-ip': ip, 'user-agent': 'bench' },
    });
    await response.arrayBuffer();
    if (response.headers.get('x-protect-decision') === 'block') return Math.round(performance.now() - started);
    await new Promise((wake) => setTimeout(wake, 20));
  }
  throw new Error(`${ip} is not blocked after ${ENFORCED_TIMEOUT_MS} ms`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return Math.round(performance.now() - started);
}

async function manage(stack: Stack, operation: string, body: object): Promise<unknown> {
  const response = await fetch(`${stack.serviceUrl}/protect/access-rules${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${operation}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
