/**
 * What is erased on request, and what is erased with an instance: verdicts and captchas, sealed or not, their objects
 * in R2, and refused records.
 */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { ownerFolder } from '../../../src/store/event-log/segment-key.ts';
import { captchaLog, searchCaptchas } from '../../../src/store/event-log/client/captcha-log.ts';
import { appendReports, sessionReports, telemetryLogOf } from '../../../src/store/event-log/client/telemetry-log.ts';
import { verdictLogOf, countValues } from '../../../src/store/event-log/client/verdict-log.ts';
import { retireDeletedInstances } from '../../../src/service/ingest/retire-deleted-instances.ts';
import { everything } from '../../../src/store/event-log/row-filter.ts';
import { readPage } from '../../../src/store/event-log/client/verdict-page.ts';
import { type LogName, shard, shardNames } from '../../../src/store/event-log/client/shards.ts';
import type { TelemetryRecord } from '../../../src/store/event-log/telemetry-record.ts';
import { reportOf } from '../../unit/risk/session-facts.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';
import { writeCaptchas } from './captcha-events.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';
import { later, setClock, testNow } from '../../support/clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let names = 0;

async function newInstance() {
  names += 1;
  const account = await newAccount();
  const created = await call(account.token, '/protect/instances/create', {
    name: 'Gate',
    cname: `erasure${names}.example.org`,
    globalSiteKey: account.site.siteKey,
  });
  const instanceId = created.body.id as string;
  const issued = await call(account.token, '/protect/client-jwt/generate', {
    protectInstanceId: instanceId,
    expiresInWeeks: 1,
  });
  const append = (records: object[]) => call(issued.body.clientJwt as string, '/edge/v1/verdicts', { records });
  return { ...account, instanceId, append };
}

function verdictsOf(instanceId: string, count: number, changes: object = {}): object[] {
  return Array.from({ length: count }, (_, seq) =>
    verdictRecordOf(instanceId, { timestamp: testNow() - 60_000 + seq, ...changes }),
  );
}

async function seal(log: LogName): Promise<void> {
  for (const name of shardNames(serviceEnv, log, everything)) await shard(serviceEnv, name).seal();
}

async function held(log: LogName): Promise<{ rows: number; counted: number; objects: number }> {
  const { rows } = await readPage(serviceEnv, log, {
    filter: everything,
    before: null,
    offset: 0,
    limit: 1000,
    wantTotal: false,
  });
  const window = { from: 0, to: Math.ceil(testNow() / 60_000) + 60, outcomes: null };
  const { values } = await countValues(serviceEnv, log, 'none', window, 10);
  const { objects } = await serviceEnv.SEGMENTS.list({ prefix: ownerFolder(`${log.stream}/${log.owner}:0:0`) });
  const counted = values.reduce((sum, { counts }) => sum + counts[0] + counts[1] + counts[2], 0);
  return { rows: rows.length, counted, objects: objects.length };
}

describe('erasing a session', () => {
  test.each([
    ['not sealed', false],
    ['sealed', true],
  ])('erases the captchas that were solved in it, %s', async (_, isSealed) => {
    const { account, site, token } = await newInstance();
    const at = testNow() - 2 * HOUR_MS;
    const jti = `session-${names}`;
    await writeCaptchas(account.id, site.siteKey, [
      { at, facts: { session: jti }, correct: true, verified: true },
      { at: at + 1, facts: { session: 'another' }, correct: true },
      { at: at + 2, facts: { session: jti } },
    ]);
    const log = captchaLog(account.id);
    if (isSealed) await seal(log);
    const answer = await call(token, '/protect/sessions/erase', { jti });
    expect(answer.body).toEqual({ jti, erased: 2 });
    const query = { since: at - HOUR_MS, until: testNow(), siteKey: null, type: null, conditions: [] };
    const { records, total } = await searchCaptchas(serviceEnv, account.id, query, null, 10);
    expect(records.map(({ session }) => session)).toEqual(['another']);
    expect([total, (await held(log)).counted]).toEqual([1, 1]);
  });

  test('by the jti of a captcha erases that captcha', async () => {
    const { account, site, token } = await newInstance();
    const captcha = { at: testNow() - HOUR_MS, facts: { session: 's' }, correct: true };
    const [jti] = await writeCaptchas(account.id, site.siteKey, [captcha]);
    expect((await call(token, '/protect/sessions/erase', { jti })).body).toMatchObject({ erased: 1 });
    expect((await held(captchaLog(account.id))).rows).toBe(0);
  });
});

// An hourly run takes a part of the instances that were deleted in the last 24 hours. So two of these tests are days later
// than all other deletions.
describe('a deleted instance', () => {
  test('has no log left after its alarm, a minute later', async () => {
    const { token, instanceId, append } = await newInstance();
    const log = verdictLogOf({ id: instanceId });
    await append(verdictsOf(instanceId, 30));
    await seal(log);
    await append(verdictsOf(instanceId, 20));
    expect(await held(log)).toEqual({ rows: 50, counted: 50, objects: 1 });
    await call(token, '/protect/instances/delete', { id: instanceId });
    const object = serviceEnv.VERDICT_SHARD.get(serviceEnv.VERDICT_SHARD.idFromName(`verdicts/${instanceId}:0:0`));
    await runDurableObjectAlarm(object);
    expect((await held(log)).rows).toBe(50);
    later(61_000);
    await runDurableObjectAlarm(object);
    expect(await held(log)).toEqual({ rows: 0, counted: 0, objects: 0 });
  });

  test('has no reports of its pages left either, also when the deletion was interrupted', async () => {
    later(2 * DAY_MS);
    for (const isInterrupted of [false, true]) {
      const { token, instanceId } = await newInstance();
      const log = telemetryLogOf({ id: instanceId });
      const now = testNow();
      const record: TelemetryRecord = {
        v: 1,
        id: crypto.randomUUID(),
        timestamp: now,
        instance_id: instanceId,
        jti: 'session',
        report: reportOf(),
        edge: { isolate: 'i', seq: 0 },
      };
      await appendReports(serviceEnv, log, [record], { retentionDays: 30, nowMs: now });
      const hour = Math.ceil(now / HOUR_MS) * HOUR_MS;
      if (isInterrupted) {
        await serviceEnv.DB.prepare('UPDATE protect_instances SET active = 0, updated_at = ? WHERE id = ?')
          .bind(now, instanceId)
          .run();
        await retireDeletedInstances(serviceEnv, hour);
      } else await call(token, '/protect/instances/delete', { id: instanceId });
      expect(await sessionReports(serviceEnv, log, 'session', 0)).toEqual([record]);
      setClock(hour + 61_000);
      await runDurableObjectAlarm(serviceEnv.VERDICT_SHARD.getByName(`telemetry/${instanceId}:0:0`));
      expect(await sessionReports(serviceEnv, log, 'session', 0)).toEqual([]);
      setClock(now);
    }
  });

  test('whose deletion was interrupted is found by the hourly run, with its refused records', async () => {
    later(4 * DAY_MS);
    const { instanceId, append } = await newInstance();
    const log = verdictLogOf({ id: instanceId });
    await append([...verdictsOf(instanceId, 5), { v: 99 }]);
    const now = testNow();
    await serviceEnv.DB.prepare('UPDATE protect_instances SET active = 0, updated_at = ? WHERE id = ?')
      .bind(now, instanceId)
      .run();
    const hour = Math.ceil(now / HOUR_MS) * HOUR_MS;
    await retireDeletedInstances(serviceEnv, hour + 120_000);
    const refused = async (): Promise<number> => {
      const { objects } = await serviceEnv.SEGMENTS.list({ prefix: 'refused/' });
      return objects.filter(({ key }) => key.includes(instanceId)).length;
    };
    expect(await refused()).toBe(1);
    await retireDeletedInstances(serviceEnv, hour);
    expect(await refused()).toBe(0);
    setClock(hour + 61_000);
    const object = serviceEnv.VERDICT_SHARD.get(serviceEnv.VERDICT_SHARD.idFromName(`verdicts/${instanceId}:0:0`));
    await runDurableObjectAlarm(object);
    expect((await held(log)).rows).toBe(0);
  });
});
