/** Reports of pages as a stream of the log: stored once, found in any state, erased and expired like verdicts. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { ownerFolder } from '../../src/store/event-log/segment-key.ts';
import { rebuildStep } from '../../src/store/event-log/client/rebuild-log.ts';
import { shard, shardNames } from '../../src/store/event-log/client/shards.ts';
import { appendReports, sessionReports, telemetryLogOf } from '../../src/store/event-log/client/telemetry-log.ts';
import { eraseSession } from '../../src/store/event-log/client/verdict-log.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import type { VerdictShard } from '../../src/store/event-log/shard/verdict-shard.ts';
import type { TelemetryRecord } from '../../src/store/event-log/telemetry-record.ts';
import { later, testNow } from '../support/clock.ts';
import { reportOf } from '../unit/risk/session-facts.ts';
import { writtenBy } from './written-by.ts';

const service = env as ServiceEnv;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

let logs = 0;
function newLog() {
  const owner = `reports-${logs++}`;
  const log = telemetryLogOf({ id: owner });
  const names = shardNames(service, log, everything);
  const isolate = crypto.randomUUID();
  let seq = 0;
  return {
    names,
    /** Old enough to be sealed. */
    report: (jti: string, changes: Parameters<typeof reportOf>[0] = {}): TelemetryRecord => ({
      v: 1,
      id: crypto.randomUUID(),
      timestamp: testNow() - MINUTE_MS + seq,
      instance_id: owner,
      jti,
      report: reportOf(changes),
      edge: { isolate, seq: seq++ },
    }),
    append: (records: TelemetryRecord[]) =>
      appendReports(service, log, records, { retentionDays: 30, nowMs: testNow() }),
    read: (jti: string, since = 0) => sessionReports(service, log, jti, since),
    seal: async () => {
      for (const name of names) await shard(service, name).seal();
    },
    rebuild: () => rebuildStep(service, log, { retentionDays: 30 }, null),
    erase: (jti: string) => eraseSession(service, log, jti),
    objects: async () => {
      const { objects } = await service.SEGMENTS.list({ prefix: ownerFolder(names[0]!) });
      return objects.map(({ key }) => key);
    },
  };
}

describe('reports of a session', () => {
  test('are found oldest first, unsealed, sealed and in both states', async () => {
    const log = newLog();
    const mine = Array.from({ length: 6 }, (_, keys) => log.report('mine', { keys, traits: ['webdriver'] }));
    const others = mine.map(() => log.report('another'));
    await log.append([...mine.slice(0, 3), ...others]);
    expect(await log.read('mine')).toEqual(mine.slice(0, 3));
    await log.seal();
    expect(await log.objects()).toHaveLength(1);
    expect(await log.read('mine')).toEqual(mine.slice(0, 3));
    await log.append(mine.slice(3));
    expect(await log.read('mine')).toEqual(mine);
    expect(await log.read('mine', mine[4]!.timestamp)).toEqual(mine.slice(4));
    expect(await log.read('nobody')).toEqual([]);
  });

  test('are stored once, however often their batch arrives', async () => {
    const log = newLog();
    const records = Array.from({ length: 5 }, () => log.report('mine'));
    await log.append(records);
    await log.append(records);
    await log.append([...records.slice(2), log.report('mine')]);
    await log.seal();
    await log.append(records);
    expect(await log.read('mine')).toHaveLength(6);
  });

  test('are found after the index was built again from the files', async () => {
    const log = newLog();
    const records = Array.from({ length: 4 }, () => log.report('mine'));
    await log.append(records);
    await log.seal();
    expect(await log.rebuild()).toMatchObject({ segments: 1, rows: 4, skipped: [], next: null });
    expect(await log.read('mine')).toEqual(records);
    await log.append([...records, log.report('mine')]);
    expect(await log.read('mine')).toHaveLength(5);
  });

  test('are erased from both states, and one that arrives a moment later is erased too', async () => {
    const log = newLog();
    const [sealed, unsealed, late, other] = ['mine', 'mine', 'mine', 'another'].map((jti) => log.report(jti));
    await log.append([sealed!, other!]);
    await log.seal();
    await log.append([unsealed!]);
    expect(await log.erase('mine')).toBe(2);
    expect(await log.read('mine')).toEqual([]);
    const next = log.report('another');
    await log.append([late!, next]);
    expect(await log.read('mine')).toEqual([]);
    expect(await log.read('another')).toEqual([other, next]);
    const objects = await log.objects();
    expect(objects).not.toEqual([]);
    expect(objects.filter((key) => !key.endsWith('.r1.parquet'))).toEqual([]);
  });

  test('expire with their objects', async () => {
    const log = newLog();
    await log.append([log.report('mine')]);
    await log.seal();
    later(32 * DAY_MS);
    for (const name of log.names) await runDurableObjectAlarm(service.VERDICT_SHARD.getByName(name));
    expect(await log.read('mine')).toEqual([]);
    expect(await log.objects()).toEqual([]);
  });
});

test('a batch of reports costs one written row, and each report less than 0.1 for its segment', async () => {
  const reports = 5000;
  const perBatch = 25;
  const log = newLog();
  await runInDurableObject(service.VERDICT_SHARD.getByName(log.names[0]!), async (_: VerdictShard, state) => {
    const written = await writtenBy(state, async () => {
      for (let at = 0; at < reports; at += perBatch) {
        await log.append(Array.from({ length: perBatch }, (_one, n) => log.report(`session-${at + n}`)));
      }
      await log.seal();
    });
    expect(written / reports).toBeGreaterThan(1 / perBatch);
    expect(written / reports).toBeLessThan(1 / perBatch + 0.1);
  });
});
