// A stack of its own: its service sends alerts to the receiver of this file.
/**
 * A surge against the real Workers, scaled down: the edges report it, the watch notices it, attack mode challenges
 * newcomers, and the operator gets one signed alert.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { many, passed, visit } from '../attacks/visits.ts';
import { answering, bodyOf } from '../support/answering.ts';
import { eventually, manage, rulesLoaded, startTestStack } from '../support/stack.ts';
import { quickRules } from './edge-visitor.ts';

/** Below every rate that a busy test machine reaches. */
const MINIMUM_RATE = 2;
const NETWORKS = 50;
const WAVE = 60;
/** A bound, not an expectation: a wave takes a second or two. */
const WAVES_MAX = 60;
/** What comes in the first twenty seconds of a watch is what is usual. */
const WATCH_LEARNED_MS = 22_000;

interface Status {
  active: boolean;
  by: string | null;
  alarmSince: number | null;
}
interface Hook {
  headers: Record<string, string>;
  body: string;
}

const hooks: Hook[] = [];
const receiver = createServer(
  answering(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    hooks.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(204).end();
  }),
);
const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
let stack: Stack;
let secret: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  stack = await startAhead(0);
  const channel = { name: 'On call', shape: 'webhook', webhookUrl: 'https://hooks.example/alerts', kinds: ['attack'] };
  ({ secret } = await manage<{ secret: string }>(stack, '/alerts/channels/create', channel));
  await manage(stack, '/protect/attack-mode/set', { minimumRate: MINIMUM_RATE });
});
afterAll(async () => {
  await stack.stop();
  receiver.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function startAhead(clockAheadMs: number): Promise<Stack> {
  const { port } = receiver.address() as AddressInfo;
  const started = await startTestStack({
    stateDir,
    clockAheadMs,
    edgeVars: quickRules,
    serviceVars: { BOT_STAND_INS: `hooks.example=http://127.0.0.1:${port}/hooks` },
  });
  await rulesLoaded(started);
  return started;
}

const status = () => manage<Status>(stack, '/protect/attack-mode');
const newcomer = () => visit(stack, { from: '203.0.113.200' });

test('a surge from many networks switches attack mode on, and tells the operator once', async () => {
  expect(await status()).toMatchObject({ active: false, alarmSince: null });
  expect(await newcomer()).toMatchObject({ status: 200 });
  await eventually(
    () => manage<{ total: number }>(stack, '/protect/traffic-summary', {}),
    ({ total }) => total > 0,
  );
  await stack.stop();
  stack = await startAhead(WATCH_LEARNED_MS);
  let found = await status();
  for (let wave = 0; wave < WAVES_MAX && !found.active; wave++) {
    const of = (index: number) => ({ from: `${11 + (index % NETWORKS)}.51.100.${1 + wave}` });
    await passed(stack, many(WAVE, of));
    found = await status();
  }
  expect(found).toMatchObject({ active: true, by: 'trigger', alarmSince: expect.any(Number) as number });
  await eventually(newcomer, ({ decision }) => decision === 'challenge');
  await eventually(
    async () => hooks.length,
    (count) => count > 0,
  );
  expect(hooks.map(({ headers, body }) => new Webhook(secret).verify(body, headers))).toMatchObject([
    { type: 'attack.begins', data: { kind: 'attack', facts: { reason: 'requests', attackMode: 'on' } } },
  ]);
  await manage(stack, '/protect/attack-mode/set', { on: false });
  await eventually(newcomer, ({ decision }) => decision === 'allow');
  expect((await status()).active).toBe(false);
});
