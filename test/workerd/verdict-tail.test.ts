/** The live tail: what the log stored since the caller last asked, in that order, each verdict once. */
import { evictDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { type LogName, shard, shardNames } from '../../src/store/event-log/client/shards.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { verdictLogOf } from '../../src/store/event-log/client/verdict-log.ts';
import { readTail, type TailPosition } from '../../src/store/event-log/client/verdict-tail.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { arrivalNow, seededRandom, variedRecord, verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call, serviceEnv } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

const HOUR_MS = 3_600_000;

async function watched() {
  const instance = await newInstance();
  let batches = 0;
  return {
    ...instance,
    tail: (body: object = {}) => call(instance.token, '/protect/verdicts/tail', body),
    /** Requests so many seconds ago, in one batch. */
    log: async (...secondsAgo: number[]): Promise<VerdictRecord[]> => {
      const records = secondsAgo.map((seconds, index) =>
        verdictRecordOf(instance.id, {
          timestamp: testNow() - seconds * 1000,
          request_path: `/${batches}/${index}`,
          decision: index % 2 === 0 ? 'allow' : 'block',
        }),
      );
      batches += 1;
      const response = await sendVerdicts(instance.jwt, `batch-${batches}`, records);
      expect(response.status).toBe(200);
      return records;
    },
    seal: async (): Promise<void> => {
      for (const name of shardNames(serviceEnv, verdictLogOf(instance), everything))
        await shard(serviceEnv, name).seal();
    },
  };
}

const ids = ({ body }: { body: any }): string[] => body.verdicts.map(({ id }: { id: string }) => id);
const idsOf = (records: readonly VerdictRecord[]): string[] => records.map(({ id }) => id);

test('the first call has the newest verdicts, and the next one only what was stored since then', async () => {
  const { tail, log } = await watched();
  const before = await log(50, 40, 30);
  const first = await tail({ limit: 2 });
  expect(first.status).toBe(200);
  expect(ids(first)).toEqual(idsOf(before.slice(1)));
  expect(first.body).toMatchObject({ more: false, missed: 0 });
  expect(ids(await tail({ cursor: first.body.cursor }))).toEqual([]);
  const after = await log(20, 10);
  const second = await tail({ cursor: first.body.cursor });
  expect(ids(second)).toEqual(idsOf(after));
  expect(ids(await tail({ cursor: second.body.cursor }))).toEqual([]);
});

test('a batch that arrives late is told after what arrived before it', async () => {
  const { tail, log } = await watched();
  await log(10);
  const { cursor } = (await tail()).body;
  const late = await log(7200, 3600);
  const next = await tail({ cursor });
  expect(ids(next)).toEqual(idsOf(late));
});

test('a batch that is delivered twice is told once', async () => {
  const { tail, jwt, id } = await watched();
  const record = verdictRecordOf(id, { timestamp: testNow() - 1000 });
  await sendVerdicts(jwt, 'one', [record]);
  const first = await tail();
  await sendVerdicts(jwt, 'two', [record]);
  expect([ids(first), ids(await tail({ cursor: first.body.cursor }))]).toEqual([[record.id], []]);
});

test('a caller who is behind gets every verdict in several calls', async () => {
  const { tail, log } = await watched();
  const { cursor } = (await tail()).body;
  const records = await log(9, 8, 7, 6, 5);
  const seen: string[] = [];
  const flags: boolean[] = [];
  let at = cursor;
  for (let turn = 0; turn < 3; turn++) {
    const answer = await tail({ cursor: at, limit: 2 });
    seen.push(...ids(answer));
    flags.push(answer.body.more);
    at = answer.body.cursor;
  }
  expect([seen, flags]).toEqual([idsOf(records), [true, true, false]]);
});

test('filters choose what is told, and the place moves over the rest', async () => {
  const { tail, log, jwt, id } = await watched();
  const { cursor } = (await tail()).body;
  const records = await log(9, 8, 7, 6);
  const blocked = await tail({ cursor, decision: 'block' });
  expect(ids(blocked)).toEqual(idsOf(records.filter(({ decision }) => decision === 'block')));
  expect(ids(await tail({ cursor: blocked.body.cursor }))).toEqual([]);
  const fired_rules = [{ id: 'ip:192.0.2.1', verdict: 'block' as const, mode: 'enforce' as const }];
  const hit = verdictRecordOf(id, { timestamp: testNow(), fired_rules, ip: '192.0.2.77', jti: 'a-session' });
  await sendVerdicts(jwt, 'hit', [hit, verdictRecordOf(id, { timestamp: testNow() })]);
  for (const filter of [{ firedRules: 'ip:192.0.2.1' }, { ip: '192.0.2.77' }, { jti: 'a-session' }]) {
    expect(ids(await tail({ cursor: blocked.body.cursor, ...filter }))).toEqual([hit.id]);
    expect(ids(await tail(filter))).toEqual([hit.id]);
  }
});

test('verdicts that left the newest part of the log before they were told are counted', async () => {
  const { tail, log, seal } = await watched();
  const { cursor } = (await tail()).body;
  await log(3600, 3500, 3400);
  await seal();
  const young = await log(1);
  const next = await tail({ cursor });
  expect(ids(next)).toEqual(idsOf(young));
  expect(next.body.missed).toBe(3);
  expect((await tail({ cursor: next.body.cursor })).body.missed).toBe(0);
});

test('text that is no cursor is refused', async () => {
  const { tail } = await watched();
  for (const cursor of ['x', 'bnVsbA', 'W1swLDAsLTFdXQ', 'W1swLDBdXQ', 'x'.repeat(9000)]) {
    const { status, body } = await tail({ cursor });
    expect([status, body.error.details[0].path]).toEqual([400, 'cursor']);
  }
});

describe.each(['1', '1,3@2020-01-01T00:00:00Z'])('a log with the shards %s', (shards) => {
  const world: ServiceEnv = { ...serviceEnv, VERDICT_SHARDS: shards };

  test('tells each verdict once, or counts it, through seals and restarts', () =>
    expectRows([1, 2, 3, 4], async (seed) => {
      const random = seededRandom(seed);
      const log: LogName = { stream: 'verdicts', owner: `tail-${shards.length}-${seed}` };
      const names = shardNames(world, log, everything);
      for (const name of names) await shard(world, name).tune({ hotRowsMax: 1_000_000, segmentRows: 60 });
      const arrived: string[] = [];
      const told: string[] = [];
      let position: TailPosition | null = null;
      let missed = 0;
      let before = 0;
      const poll = async (): Promise<boolean> => {
        const limit = 1 + Math.floor(random() * 40);
        const tail = await readTail(world, log, { filter: everything, after: position, limit });
        // The first call tells only the newest, so what came before it is not owed.
        if (position === null) before = arrived.length;
        else {
          told.push(...tail.rows.map(({ id }) => id));
          missed += tail.missed;
        }
        ({ position } = tail);
        return tail.more;
      };
      for (let step = 0; step < 40; step++) {
        const dice = random();
        if (dice < 0.4) {
          const records = Array.from({ length: Math.floor(random() * 50) }, (_, seq) => ({
            ...variedRecord(log.owner, Math.floor(testNow() - random() * 5 * HOUR_MS), random, seq),
            edge: { colo: 'FRA', version: '0.1.0', isolate: `isolate-${step}`, seq },
          }));
          arrived.push(...records.map(({ id }) => id));
          const rows = records.map((record) => verdictRow(record, true));
          await appendRows(world, log, rows, arrivalNow());
        } else if (dice < 0.8) await poll();
        else if (dice < 0.9) for (const name of names) await shard(world, name).seal();
        else {
          const name = names[Math.floor(random() * names.length)] as string;
          await shard(world, name).statistics();
          await evictDurableObject(world.VERDICT_SHARD.get(world.VERDICT_SHARD.idFromName(name)));
        }
      }
      while (await poll());
      const owed = arrived.slice(before);
      expect(new Set(told).size).toBe(told.length);
      expect(told.every((id) => owed.includes(id))).toBe(true);
      expect(told.length + missed).toBe(owed.length);
      if (names.length === 1) expect(told).toEqual(owed.filter((id) => told.includes(id)));
    }));
});
