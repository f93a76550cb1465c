/** What the accept path tells the watch: sums, behind the response, in few calls, and never an error. */
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { attackStateOf } from '../../src/attack/attack-state.ts';
import { addTraffic, STEP_MS } from '../../src/attack/traffic.ts';
import { feedAttackWatch, type FeedingCall } from '../../src/service/attack/feed.ts';
import { checkedEnvironment } from '../../src/service/environment.ts';
import type { StoredInstance } from '../../src/store/d1/instances.ts';
import type { AttackWatchRpc } from '../../src/store/attack-watch/rpc.ts';
import { testNow } from '../support/clock.ts';

const SECOND_MS = 1000;
const { store, outbound } = checkedEnvironment(env as ServiceEnv);
const now = Math.floor(testNow() / STEP_MS) * STEP_MS;
let instances = 0;

function feeding(watch: Pick<AttackWatchRpc, 'add'>, state = {}) {
  const pending: Promise<unknown>[] = [];
  const ATTACK_WATCH = { getByName: () => watch } as unknown as ServiceEnv['ATTACK_WATCH'];
  const call: FeedingCall = {
    store: { ...store, ATTACK_WATCH, JURISDICTION: 'none' },
    outbound,
    waitUntil: (work) => pending.push(work),
  };
  const instance = { id: `feed-${(instances += 1)}`, attack: { ...attackStateOf(null), ...state } } as StoredInstance;
  const feed = async (count: number, at: number, record: object = {}): Promise<void> => {
    const records = Array.from({ length: count }, () => ({
      timestamp: at,
      ip: anotherNetwork(),
      decision: 'allow',
      status: 200,
      origin_ms: 20,
      ...record,
    }));
    feedAttackWatch(call, instance, records, at);
    await Promise.all(pending);
  };
  return { feed, pending };
}

let networks = 0;
/** What one network sends counts for little. */
function anotherNetwork(): string {
  networks += 1;
  return `${1 + (networks % 200)}.${Math.floor(networks / 200) % 256}.0.1`;
}

function counting() {
  const calls: Parameters<AttackWatchRpc['add']>[0][] = [];
  const add = async (steps: Parameters<AttackWatchRpc['add']>[0]) => {
    calls.push(steps);
    return null;
  };
  return { calls, add };
}
/** A step with the traffic that was told of each network added to its own. */
function totalOf({ networks: told = [], ...step }: Parameters<AttackWatchRpc['add']>[0][number]) {
  const total = { ...step };
  for (const sums of told) addTraffic(total, sums);
  return total;
}
const requestsIn = (calls: Parameters<AttackWatchRpc['add']>[0][]): number =>
  calls.flat().reduce((sum, step) => sum + totalOf(step).requests, 0);

test('a busy isolate makes one call in two seconds, with all that it has summed up', async () => {
  const watch = counting();
  const { feed } = feeding(watch);
  for (let tick = 0; tick < 40; tick++) await feed(50, now + tick * 250);
  expect(watch.calls).toHaveLength(5);
  expect(requestsIn(watch.calls)).toBe(50 * 33);
  expect(Math.max(...watch.calls.map((steps) => steps.length))).toBeLessThanOrEqual(2);
});

test('a quiet isolate makes one call in ten seconds', async () => {
  const watch = counting();
  const { feed } = feeding(watch);
  for (let second = 0; second <= 30; second++) await feed(1, now + second * SECOND_MS);
  expect(watch.calls).toHaveLength(4);
});

test('a request counts at its own time, by what became of it, and one of an outage not at all', async () => {
  const watch = counting();
  const { feed } = feeding(watch);
  await feed(1, now);
  await feed(3, now + 4 * SECOND_MS, { decision: 'block', origin_ms: null });
  await feed(2, now + 5 * SECOND_MS, { status: 502 });
  await feed(30, now + 12 * SECOND_MS, { timestamp: now - 60 * SECOND_MS });
  expect(watch.calls[1]!.map(totalOf)).toEqual([
    { step: now / STEP_MS + 2, requests: 5, refused: 3, originResponses: 2, originErrors: 2, originMs: 40 },
  ]);
});

test('records of any shape, and a watch that fails, harm nobody', async () => {
  const { feed, pending } = feeding({ add: async () => Promise.reject(new Error('away')) });
  for (const record of [{ timestamp: 'x' }, { timestamp: Number.NaN }, { origin_ms: 'x' }, { decision: {} }]) {
    await feed(5, now, record);
  }
  await feed(25, now + 20 * SECOND_MS);
  expect(pending.length).toBeGreaterThan(0);
});

test('nobody is watched where the trigger is off', async () => {
  const watch = counting();
  const { feed } = feeding(watch, { trigger: 'off' });
  await feed(100, now);
  expect(watch.calls).toEqual([]);
});
