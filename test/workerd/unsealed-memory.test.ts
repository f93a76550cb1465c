/**
 * What of the unsealed rows is in the memory of a log's object: little, and what a query has read, up to a bound. The rest
 * stays in the database, also when the object starts.
 */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, expect, test } from 'vitest';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { HotKeys } from '../../src/store/event-log/shard/hot-keys.ts';
import { hotRows } from '../../src/store/event-log/shard/hot-query.ts';
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
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
