/** Attack mode through the management API, and what edges get of it. */
import { beforeEach, expect, test } from 'vitest';
import { endAttackModes } from '../../../src/service/attack/end-attack-modes.ts';
import { checkedEnvironment } from '../../../src/service/environment.ts';
import { edgeConfigFor, configVersionFor } from '../../../src/service/edge-api/edge-config.ts';
import { instanceById, type StoredInstance } from '../../../src/store/d1/instances.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

const MINUTE_MS = 60_000;
const SET = '/protect/attack-mode/set';

const { outbound } = checkedEnvironment(serviceEnv);

let tenant: TestAccount;
let id: string;
const ask = (path: string, body: object = {}) => call(tenant.token, path, body);
const stored = async (): Promise<StoredInstance> => (await instanceById(serviceEnv, id))!;
const onPending = async (nowMs: number): Promise<string> =>
  (await edgeConfigFor(serviceEnv, await stored(), nowMs)).policy.enforcementPolicy.html.onPending;

beforeEach(async () => {
  tenant = await newAccount();
  const { siteKey } = tenant.site;
  const made = await ask('/protect/instances/create', { name: 'Shop', cname: 'shop.example', globalSiteKey: siteKey });
  id = made.body.id;
});

test('it is in the config of edges at once, under another version, until its time is over', async () => {
  const now = testNow();
  const before = await configVersionFor(serviceEnv, await stored(), now);
  expect((await ask('/protect/attack-mode')).body).toEqual({
    active: false,
    since: null,
    until: null,
    by: null,
    alarmSince: null,
    trigger: 'enforce',
    minimumRate: 100,
  });
  const { body } = await ask(SET, { on: true, minutes: 30 });
  expect(body).toMatchObject({ active: true, by: 'operator' });
  expect(body.until - body.since).toBe(30 * MINUTE_MS);
  expect((await ask('/protect/attack-mode')).body).toEqual(body);
  expect(await onPending(now)).toBe('challenge');
  expect(await configVersionFor(serviceEnv, await stored(), now)).not.toBe(before);
  expect(await onPending(body.until)).toBe('budget');
  expect(await configVersionFor(serviceEnv, await stored(), body.until)).toBe(before);
  await ask(SET, { on: false });
  expect(await configVersionFor(serviceEnv, await stored(), now)).toBe(before);
});

test('it leaves the settings of the instance and their version as they are', async () => {
  const [before] = (await ask('/protect/instances')).body;
  await ask(SET, { on: true });
  const [after] = (await ask('/protect/instances')).body;
  expect(after).toEqual(before);
  const changed = await ask('/protect/instances/update', { id, ifVersion: before.version, pendingBudget: 50 });
  expect(changed.status).toBe(200);
  expect((await ask('/protect/attack-mode')).body.active).toBe(true);
});

test('each change is in the audit trail, and so is its end', async () => {
  await ask(SET, { on: true, minutes: 5 });
  const later = testNow() + 6 * MINUTE_MS;
  await Promise.all([endAttackModes(serviceEnv, later, outbound), endAttackModes(serviceEnv, later, outbound)]);
  await endAttackModes(serviceEnv, later, outbound);
  const { entries } = (await ask('/audit-trail/get', { limit: 2 })).body;
  expect(entries).toMatchObject([
    { operation: 'end-attack-mode', apiKeyId: null, userEmail: null, body: { reason: 'its time was over' } },
    { operation: 'set-attack-mode', apiKeyName: 'test', body: { on: true, minutes: 5 } },
  ]);
  expect((await stored()).attack.active).toBeNull();
});

test('parallel changes all succeed, and one of them counts', async () => {
  const made = await Promise.all([5, 6, 7, 8].map((minutes) => ask(SET, { on: true, minutes })));
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const { until } = (await ask('/protect/attack-mode')).body;
  expect(made.map(({ body }) => body.until)).toContain(until);
});

test('a mistake is refused by its path and changes nothing', () =>
  expectRows(
    [
      [{ on: 'yes' }, 'on'],
      [{ on: true, minutes: 4 }, 'minutes'],
      [{ on: true, minutes: 10_081 }, 'minutes'],
      [{ on: true, minutes: 5.5 }, 'minutes'],
      [{ trigger: 'always' }, 'trigger'],
      [{ on: true, minimumRate: 0 }, 'minimumRate'],
    ],
    async ([body, path]) => {
      const refused = await ask(SET, body);
      expect([refused.status, refused.body.error.details[0].path]).toEqual([400, path]);
      expect((await ask('/protect/attack-mode')).body.active).toBe(false);
    },
  ));

test('it belongs to an instance of the account', async () => {
  const other = await newAccount();
  expect((await call(other.token, SET, { on: true })).status).toBe(404);
  expect((await call(other.token, SET, { on: true, siteKey: tenant.site.siteKey })).status).toBe(404);
  expect((await ask('/protect/attack-mode')).body.active).toBe(false);
});
