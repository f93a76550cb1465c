/** What an alarm of the watch does to its instance: attack mode, audit trail and alerts, each once. */
import { runInDurableObject } from 'cloudflare:test';
import { beforeEach, expect, test } from 'vitest';
import { STEP_MS } from '../../../src/attack/traffic.ts';
import type { Alarm } from '../../../src/attack/watch.ts';
import { edgeConfigFor } from '../../../src/service/edge-api/edge-config.ts';
import { endAttackModes } from '../../../src/service/attack/end-attack-modes.ts';
import { settleAlarm } from '../../../src/service/attack/settle-alarm.ts';
import { checkedEnvironment } from '../../../src/service/environment.ts';
import { attackWatch } from '../../../src/store/attack-watch/client.ts';
import { instanceById } from '../../../src/store/d1/instances.ts';
import { type Hooks, hooks } from '../../support/hooks.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';
import { setClock, testNow } from '../../support/clock.ts';

const MINUTE_MS = 60_000;
const { store, outbound } = checkedEnvironment(serviceEnv);
const SET = '/protect/attack-mode/set';

let tenant: TestAccount;
let id: string;
let network: Hooks;
let now: number;
const ask = (path: string, body: object = {}) => call(tenant.token, path, body);
const alarmAt = (since: number): Alarm => ({ since, reason: 'requests', rate: 1000, usualRate: 20, highest: 1000 });

/** Several isolates hear of it at the same time. */
async function heard(alarm: Alarm | null): Promise<void> {
  const instance = (await instanceById(serviceEnv, id))!;
  await Promise.all([1, 2, 3].map(() => settleAlarm({ store, outbound }, instance, alarm, now)));
}
const sent = (): string[] => network.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
async function trail(): Promise<string[]> {
  const { entries } = (await ask('/audit-trail/get', { limit: 50 })).body;
  return entries
    .map(({ operation }: { operation: string }) => operation)
    .filter((name: string) => name.endsWith('-attack-mode'))
    .toReversed();
}

beforeEach(async () => {
  network = hooks();
  // Alarms and alerts of other tests are not looked at here.
  await serviceEnv.DB.prepare('DELETE FROM alert_deliveries').run();
  await serviceEnv.DB.prepare('UPDATE protect_instances SET active = 0').run();
  tenant = await newAccount();
  const { siteKey } = tenant.site;
  const made = await ask('/protect/instances/create', { name: 'Shop', cname: 'shop.example', globalSiteKey: siteKey });
  id = made.body.id;
  await ask('/alerts/channels/create', { name: 'On call', shape: 'webhook', webhookUrl: 'https://hooks.example/x' });
  now = testNow();
});

test('it switches attack mode on, sends one alert at once, and both end with it', async () => {
  await heard(alarmAt(now));
  await heard(alarmAt(now));
  expect(sent()).toEqual(['attack.begins']);
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: true, by: 'trigger', alarmSince: now });
  expect((await ask('/alerts/list')).body.alerts[0].summary).toBe(
    'Shop gets 1,000 requests a second, usually 20. Attack mode is on.',
  );
  now += 3 * MINUTE_MS;
  await heard(null);
  await heard(null);
  expect(sent()).toEqual(['attack.begins', 'attack.ends']);
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: false, alarmSince: null });
  expect(await trail()).toEqual(['begin-attack-mode', 'end-attack-mode']);
});

test('one that lasts prolongs attack mode before it ends, and the audit trail has its beginning and its end', async () => {
  const since = now;
  for (let minute = 0; minute < 60; minute++) {
    now += MINUTE_MS;
    await heard(alarmAt(since));
    const { active, until } = (await ask('/protect/attack-mode')).body;
    expect([active, until - now > 2 * MINUTE_MS]).toEqual([true, true]);
  }
  await heard(null);
  expect(await trail()).toEqual(['begin-attack-mode', 'end-attack-mode']);
  expect(sent()).toEqual(['attack.begins', 'attack.ends']);
});

test('it ends by the clock, without traffic, a run or an object that remembers', async () => {
  await heard(alarmAt(now));
  const onPending = async (nowMs: number): Promise<string> =>
    (await edgeConfigFor(serviceEnv, (await instanceById(serviceEnv, id))!, nowMs)).policy.enforcementPolicy.html
      .onPending;
  expect(await onPending(now + 5 * MINUTE_MS - 1)).toBe('challenge');
  expect(await onPending(now + 5 * MINUTE_MS)).toBe('budget');
});

test('the scheduled run does not prolong what lasts', async () => {
  const surge = { requests: 10_000, refused: 0, originResponses: 0, originErrors: 0, originMs: 0 };
  const watch = attackWatch(serviceEnv, id);
  const [surges, over] = [now + MINUTE_MS / 2, now + MINUTE_MS];
  for (; now < over; now += STEP_MS) {
    setClock(now);
    const requests = now < surges ? 1 : surge.requests;
    await watch.add([{ ...surge, requests, step: Math.floor(now / STEP_MS) - 1 }], { minimumRate: 100 });
  }
  const alarm = await watch.alarmNow({ minimumRate: 100 });
  expect(alarm).not.toBeNull();
  await heard(alarm);
  const { until } = (await ask('/protect/attack-mode')).body;
  await endAttackModes(store, until - MINUTE_MS, outbound);
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: true, until });
});

test('it leaves alone what an operator switched off, until the next one', async () => {
  await heard(alarmAt(now));
  await ask(SET, { on: false });
  await heard(alarmAt(now));
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: false, alarmSince: now });
  await heard(null);
  now += MINUTE_MS;
  await heard(alarmAt(now));
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: true, alarmSince: now });
});

test('it does not shorten what an operator switched on', async () => {
  const { until } = (await ask(SET, { on: true, minutes: 600 })).body;
  await heard(alarmAt(now));
  await heard(null);
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: true, until, by: 'operator' });
  expect(sent()).toEqual(['attack.begins', 'attack.ends']);
});

test('where only an alert is wanted, there is only an alert', async () => {
  await ask(SET, { trigger: 'alert' });
  await heard(alarmAt(now));
  expect(sent()).toEqual(['attack.begins']);
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: false, alarmSince: now, trigger: 'alert' });
});

test('one that nobody reports on any more is ended by the scheduled run', async () => {
  await heard(alarmAt(now));
  expect(await attackWatch(serviceEnv, id).alarmNow({ minimumRate: 100 })).toBeNull();
  await endAttackModes(store, now + MINUTE_MS, outbound);
  expect(sent()).toEqual(['attack.begins', 'attack.ends']);
  expect((await ask('/protect/attack-mode')).body).toMatchObject({ active: false, alarmSince: null });
});

test('one that begins after attack mode has ended by its time leaves both in the audit trail', async () => {
  await heard(alarmAt(now));
  now += 90 * MINUTE_MS;
  await heard(alarmAt(now));
  expect(await trail()).toEqual(['begin-attack-mode', 'end-attack-mode', 'begin-attack-mode']);
});

test('of those that come again and again four are told, and one that is much larger', async () => {
  for (let flicker = 0; flicker < 10; flicker++) {
    await heard(alarmAt(now));
    expect((await ask('/protect/attack-mode')).body.active).toBe(true);
    now += 3 * MINUTE_MS;
    await heard(null);
  }
  expect(sent()).toEqual([1, 2, 3, 4].flatMap(() => ['attack.begins', 'attack.ends']));
  const summaries = network.received.map(({ body }) => (JSON.parse(body) as any).data.summary);
  expect(summaries.findIndex((text) => text.includes('told only if they are much larger'))).toBe(6);
  await heard({ ...alarmAt(now), rate: 4000 });
  expect(sent()).toHaveLength(9);
  await heard(null);
  now += 7 * 60 * MINUTE_MS;
  await heard(alarmAt(now));
  expect(sent()).toHaveLength(11);
});

test('it is over when nobody watches any more, and the watch begins anew', async () => {
  const surge = { requests: 10_000, refused: 0, originResponses: 0, originErrors: 0, originMs: 0 };
  const watch = attackWatch(serviceEnv, id);
  await watch.add([{ ...surge, step: Math.floor(now / 2000) }], { minimumRate: 100 });
  await heard(alarmAt(now));
  await ask(SET, { trigger: 'off' });
  await endAttackModes(store, now + MINUTE_MS, outbound);
  expect(sent()).toEqual(['attack.begins', 'attack.ends']);
  const { data } = JSON.parse(network.received.at(-1)!.body) as { data: { summary: string } };
  expect(data.summary).toContain('no longer watched');
  await runInDurableObject(serviceEnv.ATTACK_WATCH.getByName(id), (_, { storage }) => {
    expect(storage.sql.exec('SELECT * FROM watched').toArray()).toEqual([]);
  });
});
