// A stack of its own: its clock is not the machine's.
/**
 * The last day of a year and the first of the next one, with one state: what ends at midnight ends without a word of
 * the operator, what was stored is found from both sides, and the keys of the new day work.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { metricFamilies } from '../../src/console/views/health/exposition.ts';
import { edgesFinding, findingsOf } from '../../src/console/views/health/findings.ts';
import { stackNow } from '../support/clock.ts';
import { boughtToken, newVisitor, page, verify } from '../support/gate.ts';
import { eventually, manage, rulesLoaded, startTestStack } from '../support/stack.ts';

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;
const midnight = Date.UTC(new Date(stackNow()).getUTCFullYear() + 1, 0, 1);
const [lastNoon, firstNoon] = [midnight - DAY_MS / 2, midnight + DAY_MS / 2];
const seller = '198.51.100.60';

const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
let stack: Stack | undefined;
afterAll(async () => {
  await stack?.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

async function startAt(ms: number): Promise<Stack> {
  await stack?.stop();
  stack = await startTestStack({ stateDir, clockAheadMs: ms - stackNow() });
  await rulesLoaded(stack);
  return stack;
}

async function decision(to: Stack, ip: string): Promise<string | null> {
  const response = await page(to, newVisitor(to, ip), '/robots.txt');
  await response.arrayBuffer();
  return response.headers.get('x-protect-decision');
}

/** What the overview of the console counts as needing somebody. */
async function needing(at: Stack): Promise<unknown[]> {
  const { serviceUrl, apiKey, instanceId } = at;
  const metrics = await fetch(`${serviceUrl}/protect/metrics`, { headers: { authorization: `Bearer ${apiKey}` } });
  const findings = findingsOf(metricFamilies(await metrics.text()), instanceId, {});
  const { edges } = await manage<{ edges: Parameters<typeof edgesFinding>[0] }>(at, '/protect/edges', {
    protectInstanceId: instanceId,
  });
  const health = (await (await fetch(`${serviceUrl}/health`)).json()) as { status: string };
  return [
    ...findings.filter(({ state }) => state !== 'fine').map(({ name, total }) => [name, total]),
    ...(edgesFinding(edges).state === 'fine' ? [] : edges),
    ...(health.status === 'ok' ? [] : [health]),
  ];
}

interface Summary {
  total: number;
  buckets: { timestamp: number; total: number; block: number }[];
}
const byDay = (of: Stack): Promise<Summary> =>
  manage(of, '/protect/traffic-summary', { since: midnight - DAY_MS, until: midnight + DAY_MS, bucket: DAY_SECONDS });

test('a rule ends with the year, and both days keep their verdicts', async () => {
  const last = await startAt(lastNoon);
  const expiry = new Date(midnight).toISOString();
  const rules = [{ type: 'ip', value: seller, verdict: 'block', expiry }];
  const { version } = await manage<{ version: number }>(last, '/protect/access-rules/create', { rules });
  await eventually(
    () => decision(last, seller),
    (seen) => seen === 'block',
  );
  await eventually(
    () => byDay(last),
    ({ buckets }) => buckets.some(({ block }) => block > 0),
  );
  const { buckets: before } = await byDay(last);
  expect(before.map(({ timestamp }) => timestamp)).toEqual([midnight - DAY_MS]);
  const token = await boughtToken(last, newVisitor(last, '10.99.0.1'));

  const first = await startAt(firstNoon);
  expect(await decision(first, seller)).toBe('allow');
  expect((await manage<{ version: number }>(first, '/protect/access-rules', { limit: 1 })).version).toBe(version);
  const { buckets } = await eventually(
    () => byDay(first),
    (summary) => summary.buckets.length === 2,
  );
  expect(buckets).toMatchObject([
    { timestamp: midnight - DAY_MS, block: before[0]!.block },
    { timestamp: midnight, block: 0 },
  ]);

  // Its keys are of a day that is over, and so is its time.
  const late = newVisitor(first, '10.99.0.1');
  expect((await verify(first, late, token)).body).toMatchObject({ verified: false });
  const visitor = newVisitor(first, '10.99.0.2');
  expect((await verify(first, visitor, await boughtToken(first, visitor))).body).toMatchObject({ verified: true });
});

test('a stack that was off for a day needs nobody when it is back', async () => {
  const last = await startAt(lastNoon);
  expect(await decision(last, '10.99.0.3')).toBe('allow');
  const first = await startAt(firstNoon);
  expect(await needing(first)).toEqual([]);
  expect(await decision(first, '10.99.0.3')).toBe('allow');
  await first.runScheduled();
  expect(await needing(first)).toEqual([]);
});
