/** The object that watches the traffic of an instance: what it adds up, what it ignores, and what a restart keeps. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import { noTraffic, STEP_MS } from '../../src/attack/traffic.ts';
import { attackWatch } from '../../src/store/attack-watch/client.ts';
import { setClock, testNow } from '../support/clock.ts';

const service = env as ServiceEnv;
const settings = { minimumRate: 100 };
const MINUTE_MS = 60_000;
let name: string;
let instances = 0;
let now: number;

beforeEach(() => {
  name = `watched-${(instances += 1)}`;
  now = Math.floor(testNow() / STEP_MS) * STEP_MS;
  setClock(now);
});

const watch = () => attackWatch(service, name);
/** So many requests a second, reported by three isolates in each step. */
async function traffic(rate: number, forMs: number) {
  let alarm = null;
  for (const until = now + forMs; now < until; now += STEP_MS) {
    setClock(now);
    const step = { ...noTraffic, step: now / STEP_MS - 1, requests: Math.round((rate * STEP_MS) / 1000 / 3) };
    for (let isolate = 0; isolate < 3; isolate++) alarm = await watch().add([{ ...step }], settings);
  }
  return alarm;
}

test('sums of many isolates are an alarm that none of them is, and it ends when nobody comes any more', async () => {
  expect(await traffic(10, MINUTE_MS)).toBeNull();
  const begin = now;
  const alarm = await traffic(1000, 20_000);
  expect(alarm).toMatchObject({ reason: 'requests' });
  expect(alarm!.since - begin).toBeLessThanOrEqual(10_000);
  for (let minute = 0; minute < 4; minute++) {
    now += MINUTE_MS;
    setClock(now);
    await watch().alarmNow(settings);
  }
  expect(await watch().alarmNow(settings)).toBeNull();
});

test('an alarm, and what is usual, outlive a restart', async () => {
  await traffic(10, MINUTE_MS);
  const alarm = await traffic(1000, 20_000);
  const stub = service.ATTACK_WATCH.getByName(name);
  await expect(runInDurableObject(stub, (_, state) => state.abort('restarted'))).rejects.toThrow('restarted');
  expect(await traffic(1000, 10_000)).toEqual(alarm);
});

test('steps that are long over, or far ahead, count nowhere', async () => {
  await traffic(10, MINUTE_MS);
  const current = now / STEP_MS;
  const flood = [-25, -24, -23, 3, 4, 5].map((by) => ({ ...noTraffic, step: current + by, requests: 1e6 }));
  expect(await watch().add(flood, settings)).toBeNull();
  expect(await traffic(10, 20_000)).toBeNull();
});

test('a watch that was never told of traffic has no alarm, and one of a deleted instance forgets everything', async () => {
  expect(await watch().alarmNow(settings)).toBeNull();
  await traffic(10, MINUTE_MS);
  expect(await traffic(1000, 20_000)).not.toBeNull();
  await watch().retire();
  expect(await watch().alarmNow(settings)).toBeNull();
});
