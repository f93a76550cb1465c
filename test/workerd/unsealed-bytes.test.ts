/**
 * What visitors can put into a log's object: many captchas, long user agents, long paths. It is bounded by bytes: what is
 * above is sealed early, and what cannot be sealed is refused.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { appendCaptchas, searchCaptchas } from '../../src/store/event-log/client/captcha-log.ts';
import type { CaptchaEvent } from '../../src/store/event-log/captcha-record.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { captchaCourse } from '../support/captcha-course.ts';
import { later, testNow } from '../support/clock.ts';
import { arrivalNow, seededRandom, variedRecord } from '../support/verdict-record.ts';

const service = env as ServiceEnv;
const MINUTE_MS = 60_000;
const all = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null, conditions: [] };
const alarmOf = (name: string) =>
  runDurableObjectAlarm(service.VERDICT_SHARD.get(service.VERDICT_SHARD.idFromName(name)));

/** Captchas that were asked for within a second, so long ago. */
function asked(account: string, count: number, agoMs: number): CaptchaEvent[] {
  const start = testNow() - agoMs;
  return Array.from({ length: count }, (_, number) => {
    const [issued] = captchaCourse(account, start, number) as [CaptchaEvent & { event: 'issued' }];
    const facts = { ...issued.facts, user_agent: 'u'.repeat(1000) };
    return { ...issued, timestamp: start + number, facts };
  });
}

test('captchas that are too many bytes are sealed before their hour is over, and each stays one record', async () => {
  const account = 'unsealed-flood';
  const name = `captcha/${account}:0:0`;
  await shard(service, name).tune({ hotRowsMax: 1_000_000, segmentRows: 100, hotBytesMax: 200_000 });
  const events = asked(account, 150, 10 * MINUTE_MS);
  await appendCaptchas(service, events);
  expect(await alarmOf(name)).toBe(true);
  const { hotRows, sealedRows } = await shard(service, name).statistics();
  expect(hotRows + sealedRows).toBe(150);
  expect(hotRows).toBeLessThan(120);
  // What a visitor does with a sealed one later adds no second record.
  await appendCaptchas(service, events);
  await evictDurableObject(service.VERDICT_SHARD.get(service.VERDICT_SHARD.idFromName(name)));
  const { total, totalIsExact } = await searchCaptchas(service, account, all, null, 10);
  expect([total, totalIsExact]).toEqual([150, true]);
});

test('captchas that are too young to be sealed are refused at a number of bytes, and taken again later', async () => {
  const account = 'unsealed-young';
  const name = `captcha/${account}:0:0`;
  await shard(service, name).tune({ hotRowsMax: 1_000_000, segmentRows: 100, hotBytesMax: 200_000 });
  const young = asked(account, 200, 1000);
  await appendCaptchas(service, young);
  await expect(appendCaptchas(service, asked(account, 1, 500))).rejects.toThrow('takes no more');
  const { room } = await shard(service, name).edgeSums();
  expect(room.unsealed).toBeGreaterThanOrEqual(room.unsealedMax);
  later(3 * MINUTE_MS);
  await alarmOf(name);
  await appendCaptchas(service, asked(account, 1, 500));
});

test('an hour’s captchas of usual size are not sealed early', async () => {
  const account = 'unsealed-usual';
  const name = `captcha/${account}:0:0`;
  await appendCaptchas(service, asked(account, 200, 10 * MINUTE_MS));
  await alarmOf(name);
  expect(await shard(service, name).statistics()).toMatchObject({ hotRows: 200, sealedRows: 0 });
});

test('verdicts with long paths are sealed by their bytes, however few they are', async () => {
  const log = { stream: 'verdicts' as const, owner: 'unsealed-paths' };
  const name = `verdicts/${log.owner}:0:0`;
  await shard(service, name).tune({ hotRowsMax: 1_000_000, segmentRows: 100_000, hotBytesMax: 200_000 });
  const random = seededRandom(1);
  const start = testNow() - MINUTE_MS;
  const records = Array.from({ length: 200 }, (_, seq) => ({
    ...variedRecord(log.owner, start + seq, random, seq),
    request_path: `/${'long'.repeat(250)}/${seq}`,
  }));
  await appendRows(
    service,
    log,
    records.map((record) => verdictRow(record, true)),
    arrivalNow(),
  );
  await alarmOf(name);
  expect(await shard(service, name).statistics()).toMatchObject({ hotRows: 0, sealedRows: 200 });
});
