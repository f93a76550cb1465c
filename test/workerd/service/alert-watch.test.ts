/** The scheduled run notices what is wrong with instances and keys, and says each thing once. */
import { beforeEach, expect, test } from 'vitest';
import { watchApiKeys } from '../../../src/service/alerts/watch-api-keys.ts';
import { watchInstances } from '../../../src/service/alerts/watch-instances.ts';
import { createApiKey } from '../../../src/store/d1/api-keys.ts';
import { insertClientJwt } from '../../../src/store/d1/client-jwts.ts';
import { noteRuleFailure } from '../../../src/store/d1/object-failures.ts';
import { appendCounters, verdictLogOf } from '../../../src/store/event-log/client/verdict-log.ts';
import { ruleBook } from '../../../src/store/rule-book/client.ts';
import { hooks } from '../../support/hooks.ts';
import { listPublisher } from '../../support/list-publisher.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let tenant: TestAccount;
let instanceId: string;
let now: number;
let instances = 0;

const ask = (path: string, body: object = {}) => call(tenant.token, path, body);
/** `kind phase subject` of each, oldest first. */
async function alerts(): Promise<string[]> {
  const { body } = await ask('/alerts/list', { limit: 200 });
  return body.alerts
    .map(({ kind, phase, subject }: Record<string, string>) => `${kind} ${phase} ${subject}`.trim())
    .toReversed();
}
/** Two runs at the same time, as often as it takes to reach every instance of these tests. */
async function watch(): Promise<void> {
  for (let pass = 0; pass < Math.ceil(instances / 10); pass++) {
    await Promise.all([watchInstances(serviceEnv, now), watchInstances(serviceEnv, now)]);
  }
}

/** What edges count in the next two minutes. */
async function later(counters: Record<string, number>): Promise<void> {
  await appendCounters(serviceEnv, verdictLogOf({ id: instanceId }), `${instanceId}${now}`, counters);
  now += 2 * MINUTE_MS;
  await watch();
}

beforeEach(async () => {
  hooks();
  // Other tests of this worker have left instances that nobody watches.
  await serviceEnv.DB.prepare('UPDATE protect_instances SET active = 0').run();
  tenant = await newAccount();
  const { siteKey } = tenant.site;
  const made = await ask('/protect/instances/create', { name: 'Shop', cname: 'shop.example', globalSiteKey: siteKey });
  instanceId = made.body.id;
  instances++;
  now = testNow();
  await ask('/alerts/channels/create', { name: 'On call', shape: 'webhook', webhookUrl: 'https://hooks.example/x' });
});

test('an origin that fails and recovers is two alerts, however often and in parallel it is looked at', async () => {
  await watch();
  await later({ 'origin_responses{class="2xx"}': 100 });
  expect(await alerts()).toEqual([]);
  await later({ 'origin_responses{class="5xx"}': 20, origin_failures: 20, 'origin_responses{class="2xx"}': 60 });
  await later({ origin_failures: 100 });
  await later({ origin_failures: 10, 'origin_responses{class="2xx"}': 90 });
  expect(await alerts()).toEqual(['origin-failing begins']);
  await later({ 'origin_responses{class="2xx"}': 100 });
  await later({ 'origin_responses{class="2xx"}': 100 });
  expect(await alerts()).toEqual(['origin-failing begins', 'origin-failing ends']);
  await later({ origin_failures: 100 });
  const { body } = await ask('/alerts/list', { siteKey: tenant.site.siteKey, limit: 200 });
  expect(body.alerts).toHaveLength(3);
  expect(new Set(body.alerts.map(({ id }: { id: string }) => id)).size).toBe(3);
  expect(body.alerts[0].summary).toContain('The origin of Shop failed 100 of the last 100 requests');
  for (const { deliveries } of body.alerts) expect(deliveries).toMatchObject([{ state: 'waiting' }]);
});

test('an origin that the policies name has alerts of its own', async () => {
  const failed = 'named_origin_errors{origin="api"}';
  await watch();
  const api = (requests: number) => ({ 'named_origin_requests{origin="api"}': requests });
  await later({ ...api(40), [failed]: 20, 'origin_responses{class="5xx"}': 20, 'origin_responses{class="2xx"}': 500 });
  // Too few to tell.
  await later({ ...api(10), 'origin_responses{class="2xx"}': 100 });
  expect(await alerts()).toEqual(['origin-failing begins api']);
  await later({ ...api(10), 'origin_responses{class="2xx"}': 100 });
  const { body } = await ask('/alerts/list', { limit: 2 });
  expect(body.alerts.map(({ summary }: { summary: string }) => summary)).toEqual([
    'The origin api of Shop responds again.',
    expect.stringContaining('The origin api of Shop failed 20 of the last 40 requests (50 %)'),
  ]);
});

test('rules that an edge lacks for minutes are an alert until it has them, and so are rules that cannot be sent', async () => {
  const book = ruleBook(serviceEnv, instanceId);
  const jti = `edge${instances}`;
  await insertClientJwt(serviceEnv, { jti, instanceId, issuedAt: now, expiresAt: now + 365 * DAY_MS });
  const { delta } = await book.currentVersion();
  await book.noteEdge({ jti, at: now, rulesVersion: delta.version });
  const rule = { type: 'ip', value: '192.0.2.1', verdict: 'block' };
  await ask('/protect/access-rules/create', { rules: [rule] });
  await noteRuleFailure(serviceEnv, instanceId, 'compile', true, now);
  await watch();
  expect(await alerts()).toEqual([]);
  for (let minute = 0; minute < 12; minute += 2) {
    now += 2 * MINUTE_MS;
    await book.noteEdge({ jti, at: now });
    await watch();
  }
  expect((await alerts()).toSorted()).toEqual([`rules-stale begins edge:${jti}`, 'rules-stale begins step:compile']);
  await noteRuleFailure(serviceEnv, instanceId, 'compile', false, now);
  await book.noteEdge({ jti, at: now, rulesVersion: (await book.currentVersion()).delta.version });
  now += 2 * MINUTE_MS;
  await watch();
  expect((await alerts()).slice(2).toSorted()).toEqual([
    `rules-stale ends edge:${jti}`,
    'rules-stale ends step:compile',
  ]);
});

test('a client JWT that an edge uses is announced two weeks and a day before its end, once each', async () => {
  const end = now + 30 * DAY_MS;
  for (const jti of [`used${instances}`, `unused${instances}`]) {
    await insertClientJwt(serviceEnv, { jti, instanceId, issuedAt: now, expiresAt: end });
  }
  const used = `used${instances}`;
  for (const daysLeft of [20, 14, 13, 2, 1, 0.5]) {
    now = end - daysLeft * DAY_MS;
    await ruleBook(serviceEnv, instanceId).noteEdge({ jti: used, at: now });
    await watch();
  }
  expect(await alerts()).toEqual([`client-jwt-expiring once ${used}`, `client-jwt-expiring once ${used}`]);
});

test('an API key is announced a week and a day before its end, and not one that was made for a day', async () => {
  const key = { accountId: tenant.account.id, name: 'CI', permissions: {} };
  const { id } = await createApiKey(serviceEnv, { ...key, expiresInSeconds: 30 * 24 * 3600 }, now);
  const hour = now - (now % HOUR_MS);
  for (let day = 1; day <= 31; day++) {
    const at = hour + day * DAY_MS;
    await createApiKey(serviceEnv, { ...key, name: 'short', expiresInSeconds: 24 * 3600 }, at);
    await Promise.all([watchApiKeys(serviceEnv, at), watchApiKeys(serviceEnv, at + 5)]);
  }
  expect(await alerts()).toEqual([`api-key-expiring once ${id}`, `api-key-expiring once ${id}`]);
  const { body } = await ask('/alerts/list');
  expect(body.alerts[0].summary).toMatch(/^The API key CI expires at .*\. Create another one/);
});

test('a list whose publisher fails is an alert until it is read well', async () => {
  const name = 'bad';
  await ask('/protect/lists/create', { name, url: 'https://lists.example/bad.txt' });
  const publisher = listPublisher();
  publisher.answer = () => new Response('no', { status: 404 });
  await ask('/protect/lists/refresh', { name });
  now += HOUR_MS;
  await watch();
  expect(await alerts()).toEqual([]);
  now += HOUR_MS + MINUTE_MS;
  await watch();
  const { body } = await ask('/alerts/list', { limit: 1 });
  expect(body.alerts[0].summary).toBe(
    'The list bad of Shop has never been read well. The last attempt: The publisher answers with status 404. See gatehouse lists show bad.',
  );
  publisher.answer = () => new Response('1.2.3.4\n');
  await ask('/protect/lists/update', { name, intervalMinutes: 10_080 });
  await ask('/protect/lists/refresh', { name });
  now += 2 * MINUTE_MS;
  await watch();
  expect((await alerts()).toSorted()).toEqual(['list-stale begins bad', 'list-stale ends bad']);
});

test('keys of one account do not hide those of another, and a key is announced once', async () => {
  const hour = now - (now % HOUR_MS);
  const soon = hour + 3 * DAY_MS;
  const statements = Array.from({ length: 600 }, (_, index) =>
    serviceEnv.DB.prepare(
      'INSERT INTO api_keys (id, account_id, name, permissions, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    ).bind(`many-${index}-${instances}`, tenant.account.id, 'CI', '{}', soon, soon - 30 * DAY_MS),
  );
  await serviceEnv.DB.batch(statements);
  const other = await newAccount();
  const key = { accountId: other.account.id, name: 'CI', permissions: {}, expiresInSeconds: 30 * 24 * 3600 };
  const { id } = await createApiKey(serviceEnv, key, soon + DAY_MS - 30 * DAY_MS);
  await watchApiKeys(serviceEnv, hour);
  const told = async (accountId: string): Promise<string[]> => {
    const { results } = await serviceEnv.DB.prepare('SELECT subject FROM alerts WHERE account_id = ?')
      .bind(accountId)
      .all<{ subject: string }>();
    return results.map(({ subject }) => subject);
  };
  expect(await told(other.account.id)).toEqual([id]);
  expect(await told(tenant.account.id)).toHaveLength(499);
  await watchApiKeys(serviceEnv, hour + HOUR_MS);
  expect(await told(tenant.account.id)).toHaveLength(600);
});
