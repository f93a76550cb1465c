/** Stored counts of an hour with more values than are counted separately: the sums equal those of the rows. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { Aggregate } from '../../src/store/event-log/rollup-aggregate.ts';
import { storedDimensions } from '../../src/store/event-log/count-dimensions.ts';
import { RollupStore } from '../../src/store/event-log/shard/rollup-store.ts';
import { seededRandom, verdictRecordOf } from '../support/verdict-record.ts';

const service = env as ServiceEnv;
const HOUR_VALUES_MAX = 20_000;
const timestamp = Date.UTC(2026, 10, 20, 12, 30);

test('a removed row leaves no count, even if its value was not counted separately', async () => {
  const shard = service.VERDICT_SHARD.getByName('verdicts/rollups:0:0');
  await runInDurableObject(shard, (_, state) => {
    const store = new RollupStore(state.storage.sql);
    const dimension = storedDimensions.indexOf('user_agent');
    const merge = (agents: number[], sign: 1 | -1): void => {
      const aggregate = new Aggregate();
      for (const agent of agents) {
        const record = verdictRecordOf('rollups', { timestamp, user_agent: `agent ${agent}` });
        aggregate.add(record, timestamp, 0, sign);
      }
      state.storage.transactionSync(() => store.mergeAggregate(aggregate));
    };
    const sums = (): number[] => {
      const sum = [0, 0];
      store.scanMinutes(dimension, 0, Number.MAX_SAFE_INTEGER, (_minute, _id, allow) => (sum[0]! += allow));
      store.scanHours(dimension, 0, Number.MAX_SAFE_INTEGER, (_hour, _id, allow) => (sum[1]! += allow));
      return sum;
    };
    const kept = Array.from({ length: HOUR_VALUES_MAX }, (__, agent) => agent);
    merge(kept, 1);
    merge([HOUR_VALUES_MAX], 1);
    expect(sums()).toEqual([HOUR_VALUES_MAX + 1, HOUR_VALUES_MAX + 1]);
    merge([0, 1], -1);
    expect(sums()).toEqual([HOUR_VALUES_MAX - 1, HOUR_VALUES_MAX - 1]);
    merge([HOUR_VALUES_MAX], -1);
    expect(sums()).toEqual([HOUR_VALUES_MAX - 2, HOUR_VALUES_MAX - 2]);
  });
});

test('minutes and hours count what was added and taken away, whatever minutes share a row', async () => {
  const shard = service.VERDICT_SHARD.getByName('verdicts/rollup-minutes:0:0');
  await runInDurableObject(shard, (_, state) => {
    const { sql } = state.storage;
    const dimension = storedDimensions.indexOf('country');
    const random = seededRandom(7);
    const firstMinute = Math.floor(timestamp / 60_000) - 35;
    const expected = new Map<string, number>();
    const added: [minute: number, country: string, outcome: number][] = [];
    for (let merge = 0; merge < 40; merge++) {
      const aggregate = new Aggregate();
      for (let row = 0; row < 30; row++) {
        const takenAway = random() < 0.3 ? added.splice(Math.floor(random() * added.length), 1)[0] : undefined;
        const [minute, country, outcome] = takenAway ?? [
          firstMinute + Math.floor(random() * 90),
          `C${Math.floor(random() * 6)}`,
          Math.floor(random() * 3),
        ];
        if (!takenAway) added.push([minute, country, outcome]);
        const record = verdictRecordOf('rollup-minutes', { timestamp: minute * 60_000, country });
        aggregate.add(record, minute * 60_000, outcome, takenAway ? -1 : 1);
        const key = `${minute} ${country} ${outcome}`;
        expected.set(key, (expected.get(key) ?? 0) + (takenAway ? -1 : 1));
      }
      // A new store has nothing in its cache.
      state.storage.transactionSync(() => new RollupStore(sql).mergeAggregate(aggregate));
    }
    const store = new RollupStore(sql);
    const texts = store.texts.ofDimension(dimension);
    const found = (scan: 'scanMinutes' | 'scanHours', from: number, to: number): Map<string, number> => {
      const counts = new Map<string, number>();
      store[scan](dimension, from, to, (bucket, id, ...outcomes) => {
        outcomes.forEach((count, outcome) => count > 0 && counts.set(`${bucket} ${texts.get(id)} ${outcome}`, count));
      });
      return counts;
    };
    const counted = (from: number, to: number, size: number): Map<string, number> => {
      const sums = new Map<string, number>();
      for (const [key, count] of expected) {
        const [minute = '', ...rest] = key.split(' ');
        if (Number(minute) < from || Number(minute) >= to || count === 0) continue;
        const bucket = [Math.floor(Number(minute) / size), ...rest].join(' ');
        sums.set(bucket, (sums.get(bucket) ?? 0) + count);
      }
      return sums;
    };
    const [from, to] = [firstMinute + 7, firstMinute + 71];
    expect(found('scanMinutes', from, to)).toEqual(counted(from, to, 1));
    expect(found('scanHours', 0, Number.MAX_SAFE_INTEGER)).toEqual(counted(0, Number.MAX_SAFE_INTEGER, 60));
  });
});

test('a text is kept as long as a count uses it, and no longer, and ids are looked up both ways', async () => {
  const shard = service.VERDICT_SHARD.getByName('verdicts/rollup-texts:0:0');
  await runInDurableObject(shard, (_, state) => {
    const { sql } = state.storage;
    const dimension = storedDimensions.indexOf('request_path');
    const store = new RollupStore(sql);
    const merge = (paths: string[], at: number): void => {
      const aggregate = new Aggregate();
      for (const path of paths) {
        aggregate.add(verdictRecordOf('rollup-texts', { timestamp: at, request_path: path }), at, 0);
      }
      state.storage.transactionSync(() => store.mergeAggregate(aggregate));
    };
    const paths = Array.from({ length: 700 }, (__, at) => `/page/${at}`);
    merge(paths, timestamp);
    const later = timestamp + 3_600_000;
    merge(['/page/3', '/page/650', '/new'], later);
    const ids = paths.map((path) => store.texts.idOf(dimension, path)!);
    expect(store.texts.ofIds(dimension, ids, 1000).map(({ value }) => value)).toEqual(paths);
    expect(store.texts.ofIds(dimension, ids.slice(250, 260), 1000).map(({ value }) => value)).toEqual(
      paths.slice(250, 260),
    );
    store.dropBefore(Math.floor(later / 3_600_000) * 60);
    store.dropUnusedValues();
    const kept = [...store.texts.ofDimension(dimension)];
    expect(kept.map(([, text]) => text).toSorted()).toEqual(['/new', '/page/3', '/page/650']);
    expect(kept.map(([id]) => id)).toEqual(kept.map(([, text]) => store.texts.idOf(dimension, text)));
    expect(store.texts.idOf(dimension, '/page/4')).toBeNull();
    expect(JSON.stringify(sql.exec('SELECT texts FROM rollup_texts').toArray())).not.toContain('/page/4"');
    merge(['/page/4'], later);
    expect(new RollupStore(sql).texts.ofDimension(dimension).get(store.texts.idOf(dimension, '/page/4')!)).toBe(
      '/page/4',
    );
  });
});
