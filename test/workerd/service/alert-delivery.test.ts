/**
 * Deliveries of alerts under faults: receivers that fail, hang or lose their answer, and senders that are stopped before
 * or after they sent. Each alert is received, and once by its id.
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { alertId, type Alert } from '../../../src/alerts/alert.ts';
import { deliverDue, postingOver, sendTest, type PostAlert } from '../../../src/service/alerts/deliver-alerts.ts';
import { checkedEnvironment, type ServiceStore } from '../../../src/service/environment.ts';
import { channelsOf, createChannel } from '../../../src/store/d1/alert-channels.ts';
import { alertPage, recordAlert } from '../../../src/store/d1/alerts.ts';
import { randomFrom, type Random } from '../../property/rules/random.ts';
import { hooks } from '../../support/hooks.ts';
import { newAccount, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const SEEDS = 100;
const CHANNELS_PER_ACCOUNT = 20;
const ALERTS_PER_ACCOUNT = 4;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let store: ServiceStore;
beforeAll(() => {
  store = checkedEnvironment(serviceEnv).store;
});

/** Every delivery that is given up or cut short is a warning. */
beforeEach(() => {
  const silent = vi.spyOn(console, 'warn').mockReturnValue();
  return () => silent.mockRestore();
});

async function alertOf(accountId: string, moment: number, at: number): Promise<Alert> {
  const identity = { accountId, instanceId: null, kind: 'api-key-expiring', phase: 'once', subject: 'key' } as const;
  return { ...identity, id: await alertId({ ...identity, moment }), at, summary: 'A key expires.', facts: {} };
}

test('with 100 seeds of faults each alert reaches each channel, exactly once by its id', async () => {
  const begin = testNow();
  const randomOf = new Map<string, Random>();
  const expected: string[] = [];
  const accounts: string[] = [];
  for (let seed = 0; seed < SEEDS;) {
    const { account } = await newAccount();
    accounts.push(account.id);
    const names: string[] = [];
    for (let place = 0; place < CHANNELS_PER_ACCOUNT; place++, seed++) {
      const host = `seed${seed}.hooks.example`;
      randomOf.set(host, randomFrom(seed));
      names.push(host);
      const settings = { name: host, kinds: [], quietHours: null, enabled: true };
      await createChannel(store, account.id, { ...settings, shape: 'webhook', webhookUrl: `https://${host}/` }, begin);
    }
    for (let number = 0; number < ALERTS_PER_ACCOUNT; number++) {
      const alert = await alertOf(account.id, number, begin);
      // Two runs notice it at the same time.
      await Promise.all([store.DB.batch(recordAlert(store, alert)), store.DB.batch(recordAlert(store, alert))]);
      expected.push(...names.map((name) => `${name} ${alert.id}`));
    }
  }
  const network = hooks();
  const hostOf = (url: string): string => new URL(url).hostname;
  const random = (url: string): number => (randomOf.get(hostOf(url))?.word() ?? 2 ** 32) / 2 ** 32;
  const received: string[] = [];
  network.answer = ({ url, headers }) => {
    const fault = random(url);
    if (fault < 0.1) return new Response('x'.repeat(10_000), { status: 500 });
    if (fault < 0.2) throw new TypeError('connection refused');
    received.push(`${hostOf(url)} ${headers.get('webhook-id')}`);
    // It has arrived, and the sender does not learn of it.
    if (fault < 0.3) throw new DOMException('too late', 'TimeoutError');
    if (fault < 0.35) return new Response(null, { status: 502 });
    return new Response(null, { status: 204 });
  };
  const posting = postingOver(checkedEnvironment(serviceEnv).outbound);
  const stopped: PostAlert = async (channel, alert, nowMs) => {
    const fault = random(channel.url);
    if (fault < 0.1) throw new Error('stopped before it sent');
    const outcome = await posting(channel, alert, nowMs);
    if (fault < 0.2) throw new Error('stopped between sending and noting');
    return outcome;
  };
  const isDone = (): boolean => new Set(received).size === expected.length;
  for (let now = begin; now < begin + 6 * HOUR_MS && !isDone(); now += MINUTE_MS) {
    await Promise.all([deliverDue(store, stopped, now), deliverDue(store, stopped, now + 1)]);
  }
  expect([...new Set(received)].toSorted()).toEqual(expected.toSorted());
  // Every sender that was stopped leaves a delivery that is noted in the end.
  network.answer = () => new Response(null, { status: 204 });
  for (let pass = 1; pass <= 20; pass++) await deliverDue(store, posting, begin + 8 * HOUR_MS + pass * MINUTE_MS);
  const pages = await Promise.all(
    accounts.map((id) => alertPage(store, id, { instanceId: null, kind: null, limit: 200 }, null)),
  );
  const deliveries = pages.flat().flatMap((alert) => alert.deliveries);
  expect(deliveries).toHaveLength(expected.length);
  expect(new Set(deliveries.map(({ state }) => state))).toEqual(new Set(['sent']));
});

test('a delivery that nobody accepts for a day is given up, and says why', async () => {
  const begin = testNow();
  const { account } = await newAccount();
  const settings = { name: 'Down', kinds: [], quietHours: null, enabled: true };
  const place = { shape: 'slack', webhookUrl: 'https://down.example/' } as const;
  await createChannel(store, account.id, { ...settings, ...place }, begin);
  await store.DB.batch(recordAlert(store, await alertOf(account.id, 1, begin)));
  const network = hooks();
  network.answer = () => new Response(null, { status: 503 });
  const post = postingOver(checkedEnvironment(serviceEnv).outbound);
  for (let now = begin; now < begin + 26 * HOUR_MS; now += 20 * MINUTE_MS) await deliverDue(store, post, now);
  const [alert] = await alertPage(store, account.id, { instanceId: null, kind: null, limit: 10 }, null);
  expect(alert?.deliveries).toMatchObject([{ state: 'given-up', error: 'Status 503', dueAt: null }]);
  expect(alert?.deliveries[0]?.attempts).toBe(network.received.length);
  expect(network.received.length).toBeGreaterThan(20);
});

test('in quiet hours nothing is sent, and everything when they are over', async () => {
  const begin = Date.UTC(2030, 0, 1, 23);
  const { account } = await newAccount();
  const quietHours = { from: '22:00', until: '07:00', timeZone: 'UTC', except: [] };
  const settings = { name: 'Night', kinds: [], quietHours, enabled: true };
  const place = { shape: 'discord', webhookUrl: 'https://night.example/' } as const;
  await createChannel(store, account.id, { ...settings, ...place }, begin);
  await store.DB.batch(recordAlert(store, await alertOf(account.id, 1, begin)));
  const network = hooks();
  const post = postingOver(checkedEnvironment(serviceEnv).outbound);
  for (let hour = 0; hour < 8; hour++) await deliverDue(store, post, begin + hour * HOUR_MS);
  expect(network.received).toHaveLength(0);
  await deliverDue(store, post, begin + 8 * HOUR_MS);
  expect(network.received).toHaveLength(1);
});

test('quiet hours of every night do not keep a delivery that nobody accepts', async () => {
  const begin = Date.UTC(2031, 0, 1, 20);
  const { account } = await newAccount();
  const quietHours = { from: '22:00', until: '07:00', timeZone: 'UTC', except: [] };
  const settings = { name: 'Gone', kinds: [], quietHours, enabled: true };
  const place = { shape: 'slack', webhookUrl: 'https://gone.example/' } as const;
  await createChannel(store, account.id, { ...settings, ...place }, begin);
  await store.DB.batch(recordAlert(store, await alertOf(account.id, 1, begin)));
  hooks().answer = () => new Response(null, { status: 503 });
  const post = postingOver(checkedEnvironment(serviceEnv).outbound);
  for (let now = begin; now < begin + 48 * HOUR_MS; now += 30 * MINUTE_MS) await deliverDue(store, post, now);
  const [alert] = await alertPage(store, account.id, { instanceId: null, kind: null, limit: 10 }, null);
  expect(alert?.deliveries).toMatchObject([{ state: 'given-up', error: 'Status 503' }]);
});

/** A channel of a new account, and the alerts that wait for it. */
async function waiting(host: string, alerts: number, channels = 1, begin = testNow()) {
  const { account } = await newAccount();
  const settings = { name: host, kinds: [], quietHours: null, enabled: true };
  for (let place = 0; place < channels; place++) {
    const webhookUrl = `https://${host}/${place}`;
    await createChannel(store, account.id, { ...settings, shape: 'webhook', webhookUrl }, begin);
  }
  const made: Alert[] = [];
  for (let number = 0; number < alerts; number++) made.push(await alertOf(account.id, number, begin + number));
  if (alerts > 0) await store.DB.batch(made.flatMap((alert) => recordAlert(store, alert)));
  return { account, ids: made.map(({ id }) => id) };
}

test('no account delays the alerts of another, and an alert of now waits for none', async () => {
  // What other tests have left is not looked at here.
  await store.DB.prepare("UPDATE alert_deliveries SET state = 'given-up' WHERE state = 'waiting'").run();
  const begin = testNow() - HOUR_MS;
  const { ids } = await waiting('many.example', 30, 20, begin);
  await waiting('other.example', 1, 1, begin + MINUTE_MS);
  const network = hooks();
  const post = postingOver(checkedEnvironment(serviceEnv).outbound);
  await deliverDue(store, post, begin + HOUR_MS, [ids.at(-1)!]);
  expect(network.received).toHaveLength(60);
  expect(network.received.filter(({ url }) => new URL(url).hostname === 'other.example')).toHaveLength(1);
  const ofLast = network.received.filter(({ headers }) => headers.get('webhook-id') === ids.at(-1));
  expect(ofLast).toHaveLength(20);
});

test('a channel that cannot be decrypted is given up after a day, and stops no other', async () => {
  await store.DB.prepare("UPDATE alert_deliveries SET state = 'given-up' WHERE state = 'waiting'").run();
  const begin = testNow();
  const { account } = await waiting('damaged.example', 1, 1, begin);
  await store.DB.prepare("UPDATE alert_channels SET url_sealed = 'v1.AAAA' WHERE account_id = ?")
    .bind(account.id)
    .run();
  await waiting('whole.example', 1, 1, begin);
  const network = hooks();
  const post = postingOver(checkedEnvironment(serviceEnv).outbound);
  await deliverDue(store, post, begin + 1);
  expect(network.received.map(({ url }) => new URL(url).hostname)).toEqual(['whole.example']);
  for (let hour = 1; hour <= 26; hour++) await deliverDue(store, post, begin + hour * HOUR_MS);
  const [alert] = await alertPage(store, account.id, { instanceId: null, kind: null, limit: 10 }, null);
  expect(alert?.deliveries).toMatchObject([
    { state: 'given-up', error: 'The address or the secret of the channel cannot be decrypted' },
  ]);
});

test('a test whose sender is stopped is sent by nobody else', async () => {
  const begin = testNow();
  const { account } = await waiting('tested.example', 0, 1, begin);
  const [channel] = await channelsOf(store, account.id, begin);
  const asked = { accountId: account.id, channelId: channel!.id, moment: 'now' };
  const stopped: PostAlert = () => Promise.reject(new Error('stopped'));
  await expect(sendTest(store, stopped, asked, begin)).rejects.toThrow('stopped');
  const network = hooks();
  const post = postingOver(checkedEnvironment(serviceEnv).outbound);
  for (let hour = 0; hour < 3; hour++) await deliverDue(store, post, begin + hour * HOUR_MS);
  expect(network.received.filter(({ url }) => url.includes('tested.example'))).toEqual([]);
  const [alert] = await alertPage(store, account.id, { instanceId: null, kind: null, limit: 10 }, null);
  expect(alert?.deliveries).toMatchObject([{ state: 'given-up', error: 'The attempt was cut short' }]);
});
