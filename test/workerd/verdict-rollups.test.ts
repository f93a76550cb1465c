/** Stored counts of an hour with more values than are counted separately: the sums equal those of the rows. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { Aggregate } from '../../src/store/event-log/shard/rollup-aggregate.ts';
import { storedDimensions } from '../../src/store/event-log/count-dimensions.ts';
import { LEVEL_HOUR, LEVEL_MINUTE, RollupStore } from '../../src/store/event-log/shard/rollup-store.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';

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
    const sums = (): number[] =>
      [LEVEL_MINUTE, LEVEL_HOUR].map((level) => {
        let sum = 0;
        store.scan(dimension, level, 0, Number.MAX_SAFE_INTEGER, (_bucket, _id, allow) => (sum += allow));
        return sum;
      });
    const kept = Array.from({ length: HOUR_VALUES_MAX }, (__, agent) => agent);
    merge(kept, 1);
    merge([HOUR_VALUES_MAX], 1);
    expect(sums()).toEqual([HOUR_VALUES_MAX + 1, HOUR_VALUES_MAX + 1]);
    merge([0, 1], -1);
    expect(sums()).toEqual([HOUR_VALUES_MAX - 1, HOUR_VALUES_MAX - 1]);
    merge([HOUR_VALUES_MAX], -1);
    expect(sums()).toEqual([HOUR_VALUES_MAX - 2, HOUR_VALUES_MAX - 2]);
  });
}, 30_000);
