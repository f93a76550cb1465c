/**
 * What of the unsealed rows is in the memory of a log's object: little, and what a query has read, up to a bound. The rest
 * stays in the database, also when the object starts.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, test } from 'vitest';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { appendCaptchas, countCaptchas, searchCaptchas } from '../../src/store/event-log/client/captcha-log.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import type { CaptchaEvent } from '../../src/store/event-log/captcha-record.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { HotKeys } from '../../src/store/event-log/shard/hot-keys.ts';
import { hotRows } from '../../src/store/event-log/shard/hot-query.ts';
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
import { captchaCourse } from '../support/captcha-course.ts';
import { testNow } from '../support/clock.ts';
import { arrivalNow, seededRandom, variedRecord } from '../support/verdict-record.ts';
import { readBy } from './read-by.ts';

const service = env as ServiceEnv;
const log = { stream: 'verdicts' as const, owner: 'unsealed-memory' };
const stub = service.VERDICT_SHARD.getByName(`verdicts/${log.owner}:0:0`);
const VERDICTS = 2000;
const BATCHES = 20;

/** 2 MB of keys: each path has a thousand characters. */
beforeAll(async () => {
  const random = seededRandom(1);
  const start = testNow() - 60_000;
  for (let at = 0; at < VERDICTS; at += VERDICTS / BATCHES) {
    const rows = Array.from({ length: VERDICTS / BATCHES }, (_, index) => {
      const record = variedRecord(log.owner, start + at + index, random, at + index);
      return verdictRow({ ...record, request_path: `/${'long'.repeat(250)}/${at + index}` }, true);
    });
    await appendRows(service, log, rows, arrivalNow());
  }
});

test('an object that starts reads a few numbers of each batch whose counts are merged', async () => {
  await runInDurableObject(stub, async (_, state) => {
    new HotRows(state.storage).mergePending();
    const read = await readBy(state, () => expect(new HotRows(state.storage).size).toBe(VERDICTS));
    expect(read.rows).toBeLessThan(BATCHES + 20);
    expect(read.bytes).toBeLessThan(10 * VERDICTS);
  });
});

test('queries find the same rows, however many keys have room in the memory', async () => {
  await runInDurableObject(stub, (_, { storage }) => {
    const { sql } = storage;
    const { batches, keys } = new HotRows(storage);
    for (const filter of [everything, { ...everything, outcomes: [2] }, { ...everything, minRulesFired: 1 }]) {
      const expected = hotRows(sql, keys, filter, null, 30);
      expect(expected.rows).toHaveLength(30);
      for (const bytesMax of [0, 500_000]) {
        const bounded = new HotKeys(sql, batches, bytesMax);
        for (let time = 0; time < 2; time++) {
          expect(hotRows(sql, bounded, filter, null, 30)).toEqual(expected);
          expect(bounded.lastStored(filter, 30)).toEqual(keys.lastStored(filter, 30));
          expect([...bounded.storedAfter(VERDICTS / 2)]).toEqual([...keys.storedAfter(VERDICTS / 2)]);
          expect(bounded.bytes).toBeLessThanOrEqual(bytesMax);
        }
      }
    }
  });
});

describe('captchas', () => {
  const account = 'unsealed-memory';
  const name = `captcha/${account}:0:0`;
  const captchas = service.VERDICT_SHARD.getByName(name);
  const CAPTCHAS = 3000;
  const MEMORY_MAX_BYTES = 9_000_000;

  /** 11 MB of events and records: each user agent has a thousand characters. */
  beforeAll(async () => {
    const start = testNow() - 1_000_000;
    for (let at = 0; at < CAPTCHAS; at += 30) {
      const events = Array.from({ length: 30 }, (_, index) => {
        const [issued] = captchaCourse(account, start, at + index) as [CaptchaEvent & { event: 'issued' }];
        const facts = { ...issued.facts, user_agent: `${'u'.repeat(1000)}${at + index}` };
        return { ...issued, timestamp: start + at + index, facts };
      });
      await appendCaptchas(service, events);
    }
  });

  test('an object has only the captchas in memory that changed lately', async () => {
    const statistics = await shard(service, name).statistics();
    expect(statistics.hotRows).toBe(CAPTCHAS);
    expect(statistics.memoryBytes).toBeLessThan(MEMORY_MAX_BYTES);
    await runInDurableObject(captchas, (_, { storage }) => {
      expect(new HotRows(storage).memoryBytes).toBeLessThan(MEMORY_MAX_BYTES);
    });
  });

  test('an object that starts replays the events that are not merged, and reads no page', async () => {
    await runInDurableObject(captchas, async (_, state) => {
      new HotRows(state.storage).mergePending();
      const read = await readBy(state, () => expect(new HotRows(state.storage).size).toBe(CAPTCHAS));
      expect(read.rows).toBeLessThan(100);
      expect(read.bytes).toBeLessThan(30_000);
    });
    // The counts of the other object are merged now.
    await evictDurableObject(captchas);
  });

  test('a late event of a captcha that is in a page changes it, and counts it anew', async () => {
    const start = testNow() - 1_000_000;
    const late = captchaCourse(account, start, 7)
      .slice(1)
      .map((event) => ({ ...event, timestamp: start + 7 }));
    await appendCaptchas(service, late);
    const query = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null };
    const approved = { ...query, conditions: [{ field: 'status' as const, is: 'Approved' }] };
    expect(await searchCaptchas(service, account, approved, null, 10)).toMatchObject({ total: 1, totalIsExact: true });
    const window = { since: start - 3_600_000, until: start + 3_600_000, bucketMinutes: 60 };
    const counted = await countCaptchas(service, account, null, window);
    const sum = (of: 'approved' | 'pending') => counted.reduce((total, row) => total + row[of], 0);
    expect([sum('approved'), sum('pending')]).toEqual([1, CAPTCHAS - 1]);
  });
});
