/**
 * Queries of the verdict log against a naive oracle over the same records: every filter and every dimension, before
 * sealing, half sealed and fully sealed.
 */
import { env } from 'cloudflare:workers';
import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeAll, describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { botProofs, decisions, deviceTypes, verdictSources } from '../../src/contract/vocabulary.ts';
import { dimensionValues, storedDimensions } from '../../src/store/event-log/count-dimensions.ts';
import { everything, type RowFilter } from '../../src/store/event-log/row-filter.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { countSeries, countTotals, countValues, eraseSession } from '../../src/store/event-log/client/verdict-log.ts';
import { readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { compareNewestFirst, type RowKey, verdictRow } from '../../src/store/event-log/log-row.ts';
import { type LogName, shard, shardNames } from '../../src/store/event-log/client/shards.ts';
import { expectRows } from '../support/rows.ts';
import { arrivalNow, seededRandom, variedRecord } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const service = env as ServiceEnv;
const MINUTE_MS = 60_000;
/** Five hours ago, not at a full minute; three and a half hours of traffic follow. */
const start = testNow() - 5 * 3_600_000 + 12_345;
const SPAN_MS = 3.5 * 3_600_000;
const ROWS = 3000;

function made(instanceId: string, seed: number, rows = ROWS): VerdictRecord[] {
  const random = seededRandom(seed);
  return Array.from({ length: rows }, (_, seq) => {
    // Some records share a millisecond, as in a burst.
    const timestamp = Math.floor(start + Math.floor((random() * SPAN_MS) / 500) * 500);
    const varied = variedRecord(instanceId, timestamp, random, seq);
    const record = { ...varied, edge: { ...varied.edge, isolate: `isolate-${seed}-${Math.floor(seq / 100)}` } };
    const odd = oddPaths[Math.floor(random() * 60)];
    return odd === undefined ? record : { ...record, request_path: odd };
  });
}

/** Paths longer than an index key, exactly as long, without a character, and with rare characters. */
const oddPaths = [
  `/${'x'.repeat(140)}/1`,
  `/${'x'.repeat(140)}/2`,
  `/${'x'.repeat(126)}`,
  `/${'x'.repeat(127)}`,
  `/${'x'.repeat(128)}`,
  '',
  '/ä/😀/1',
  '/\uffff',
];

async function append(log: LogName, records: readonly VerdictRecord[], world = service): Promise<void> {
  for (let at = 0; at < records.length; at += 500) {
    await appendRows(
      world,
      log,
      records.slice(at, at + 500).map((record) => verdictRow(record, true)),
      arrivalNow(),
    );
  }
}

async function seal(log: LogName, segments: number, world = service): Promise<void> {
  for (const name of shardNames(world, log, everything)) {
    const object = shard(world, name);
    await object.tune({ hotRowsMax: 1_000_000, segmentRows: 700 });
    for (let segment = 0; segment < segments; segment++) await object.seal();
  }
}

/** The oracle: applies the filter to a list in memory, without the store's own predicate. */
function expected(records: readonly VerdictRecord[], filter: RowFilter): VerdictRecord[] {
  return records
    .filter((record) => record.timestamp >= filter.since && record.timestamp < filter.until)
    .filter(({ decision }) => !filter.outcomes || filter.outcomes.some((outcome) => decisions[outcome] === decision))
    .filter(({ source }) => !filter.sources || filter.sources.some((name) => name === source))
    .filter(({ asn }) => !filter.asns || filter.asns.some((number) => number === asn))
    .filter(({ device_type }) => !filter.devices || filter.devices.some((name) => name === device_type))
    .filter(({ bot }) => !filter.bots || filter.bots.some((id) => id === bot?.id))
    .filter(({ bot }) => !filter.proofs || filter.proofs.some((name) => name === bot?.proof))
    .filter(({ ip }) => filter.ip === null || ip === filter.ip)
    .filter(({ jti }) => filter.jti === null || jti === filter.jti)
    .filter(({ id }) => filter.id === null || id === filter.id)
    .filter(({ id }) => filter.shortId === null || `${id.slice(4, 8)}-${id.slice(32)}` === filter.shortId)
    .filter(({ request_path: path }) => {
      if (!filter.path) return true;
      return filter.path.prefix ? path.indexOf(filter.path.text) === 0 : path === filter.path.text;
    })
    .filter(({ fired_rules: rules }) => rules.length >= filter.minRulesFired)
    .filter(({ fired_rules: rules }) => !filter.firedRules || rules.some(({ id }) => filter.firedRules?.includes(id)))
    .sort(compareNewestFirst);
}

const random = seededRandom(7);
const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const filters: [string, RowFilter][] = [
  ['everything', everything],
  ['a window between minutes', { ...everything, since: start + 1_000_123, until: start + 7_777_777 }],
  ['a window within one minute', { ...everything, since: start + 1_000_000, until: start + 1_020_000 }],
  ['a decision', { ...everything, outcomes: [2] }],
  ['two decisions and a window', { ...everything, outcomes: [0, 1], since: start + 3_000_001 }],
  ['sources', { ...everything, sources: ['risk', 'no-session'] }],
  ['networks', { ...everything, asns: [64_500, 64_501] }],
  ['a device', { ...everything, devices: ['mobile'], until: start + 9_000_009 }],
  ['a bot', { ...everything, bots: ['bot-3'] }],
  ['two bots, one of which never came', { ...everything, bots: ['bot-1', 'bot-99'], outcomes: [0] }],
  ['a proof in a window', { ...everything, proofs: ['impostor'], since: start + 2_000_001 }],
  ['a bot with two proofs', { ...everything, bots: ['bot-0'], proofs: ['range', 'dns'], minRulesFired: 1 }],
  ['an exact path', { ...everything, path: { text: '/shop/7', prefix: false } }],
  ['a path prefix', { ...everything, path: { text: '/shop/1', prefix: true } }],
  ...oddPaths.flatMap((text, index): [string, RowFilter][] => [
    [`odd path ${index}`, { ...everything, path: { text, prefix: false } }],
    [`the beginning of odd path ${index}`, { ...everything, path: { text, prefix: true }, outcomes: [1, 2] }],
    [`less of odd path ${index}`, { ...everything, path: { text: text.slice(0, -1), prefix: true } }],
  ]),
  ['every path', { ...everything, path: { text: '/', prefix: true } }],
  ['a path that does not exist', { ...everything, path: { text: '/shop/7/', prefix: false } }],
  ['a prefix that does not exist', { ...everything, path: { text: '/shop/7/', prefix: true } }],
  ['twelve networks', { ...everything, asns: Array.from({ length: 12 }, (_, index) => 64_490 + index * 3) }],
  [
    'ten fired rules',
    { ...everything, firedRules: Array.from({ length: 10 }, (_, index) => `ip:192.0.2.${index * 3}`) },
  ],
  ['a fired rule', { ...everything, firedRules: ['ip:192.0.2.3'] }],
  ['two fired rules', { ...everything, firedRules: ['ip:192.0.2.3', 'ip:192.0.2.4'] }],
  ['at least two fired rules', { ...everything, minRulesFired: 2 }],
  ['an address', { ...everything, ip: '198.51.100.17' }],
  ['a session', { ...everything, jti: 'session-11' }],
  ['a session and an address that never occur together', { ...everything, jti: 'session-11', ip: '203.0.113.1' }],
  ...Array.from({ length: 25 }, (_, index): [string, RowFilter] => [
    `mixture ${index}`,
    {
      since: random() < 0.5 ? 0 : Math.floor(start + random() * SPAN_MS),
      until: random() < 0.5 ? everything.until : Math.floor(start + random() * SPAN_MS),
      outcomes: random() < 0.6 ? null : [Math.floor(random() * 3)],
      sources: random() < 0.7 ? null : [one(verdictSources), one(verdictSources), one(verdictSources)],
      firedRules: random() < 0.8 ? null : [`ip:192.0.2.${Math.floor(random() * 20)}`],
      asns: random() < 0.7 ? null : [64_496 + Math.floor(random() * 40), 64_500],
      devices: random() < 0.7 ? null : [one(deviceTypes), one(deviceTypes)],
      bots: random() < 0.8 ? null : [`bot-${Math.floor(random() * 8)}`, 'bot-1'],
      proofs: random() < 0.8 ? null : [one(botProofs), one(botProofs)],
      path: random() < 0.8 ? null : { text: `/shop/${Math.floor(random() * 6)}`, prefix: random() < 0.7 },
      minRulesFired: random() < 0.7 ? 0 : 1,
      ip: null,
      jti: null,
      id: null,
      shortId: null,
    },
  ]),
];

async function allPages(world: ServiceEnv, log: LogName, filter: RowFilter, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let before: RowKey | null = null;
  do {
    const page = await readPage(world, log, { filter, before, offset: 0, limit, wantTotal: false });
    ids.push(...page.rows.map(({ id }) => id));
    before = page.next;
  } while (before !== null);
  return ids;
}

const sum = (points: number[][]): number => points.reduce((all, [, a = 0, b = 0, c = 0]) => all + a + b + c, 0);

describe.each([
  ['hot', 'query-hot', 0, '1'],
  ['half sealed', 'query-half', 2, '1'],
  ['sealed', 'query-sealed', 6, '1'],
  // The number of shards grew during the traffic.
  ['sharded and half sealed', 'query-shards', 1, `2,5@${new Date(start + SPAN_MS / 2).toISOString()}`],
])('a %s log', (_, owner, segments, shards) => {
  const world = { ...service, VERDICT_SHARDS: shards };
  const log: LogName = { stream: 'verdicts', owner };
  const records = made(owner, 42);

  beforeAll(async () => {
    // The last tenth arrives after sealing: late rows lie inside the windows of sealed segments.
    await append(log, records.slice(0, ROWS * 0.9), world);
    await seal(log, segments, world);
    await append(log, records.slice(ROWS * 0.9), world);
  });

  test("returns the oracle's rows for every filter", () =>
    expectRows(filters, async ([, filter]) => {
      const wanted = expected(records, filter);
      const page = await readPage(world, log, { filter, before: null, offset: 3, limit: 40, wantTotal: true });
      expect(page.rows.map(({ id }) => id)).toEqual(wanted.slice(3, 43).map(({ id }) => id));
      expect([page.total, page.totalIsExact]).toEqual([wanted.length, true]);
      expect(page.next !== null).toBe(wanted.length > 43);
    }));

  test('pages by cursor without a gap or a repetition', async () => {
    expect(await allPages(world, log, everything, 333)).toEqual(expected(records, everything).map(({ id }) => id));
    const some = { ...everything, outcomes: [1], devices: ['bot'] };
    expect(await allPages(world, log, some, 7)).toEqual(expected(records, some).map(({ id }) => id));
  });

  test("returns the oracle's counts by every dimension", () =>
    expectRows(storedDimensions, async (dimension) => {
      const index = storedDimensions.indexOf(dimension);
      const from = Math.floor(start / MINUTE_MS) + 17;
      const to = from + 150;
      const inWindow = records.filter(({ timestamp }) => timestamp >= from * MINUTE_MS && timestamp < to * MINUTE_MS);
      const wanted = new Map<string, number[]>();
      for (const record of inWindow) {
        for (const value of dimensionValues(record)[index] as string[]) {
          const counts = wanted.get(value) ?? [0, 0, 0];
          counts[decisions.indexOf(record.decision)]!++;
          wanted.set(value, counts);
        }
      }
      const window = { from, to, outcomes: null };
      const { values, more } = await countValues(world, log, dimension, window, 1000);
      expect(new Map(values.map(({ value, counts }) => [value, counts]))).toEqual(wanted);
      expect(more).toBe(0);
      const top = values.slice(0, 3).map(({ value }) => value);
      const { series, other } = await countSeries(world, log, dimension, top, window, 5);
      expect(series.map(sum)).toEqual(values.slice(0, 3).map(({ counts }) => counts[0] + counts[1] + counts[2]));
      const rest = values.slice(3).reduce((all, { counts }) => all + counts[0] + counts[1] + counts[2], 0);
      expect(sum(other)).toBe(rest);
    }));

  test("counts each rule in requests of visitors, and knows its newest minute, like the oracle's rows", async () => {
    const from = Math.floor(start / MINUTE_MS) + 17;
    const to = from + 150;
    const rules = Array.from({ length: 25 }, (_unused, index) => `ip:192.0.2.${index}`);
    const wanted = rules.map((rule) => {
      const minutes = records
        .filter(({ fired_rules, source }) => source !== 'internal' && fired_rules.some(({ id }) => id === rule))
        .map(({ timestamp }) => Math.floor(timestamp / MINUTE_MS))
        .filter((minute) => minute >= from && minute < to);
      return [minutes.length, minutes.length === 0 ? null : Math.max(...minutes)];
    });
    const totals = await countTotals(world, log, 'fired_rule', [...rules, null], { from, to });
    expect(
      totals.slice(0, -1).map(({ counts, lastMinute }) => [counts[0] + counts[1] + counts[2], lastMinute]),
    ).toEqual(wanted);
    expect(totals.at(-1)?.lastMinute).toBeNull();
  });

  test('counts whole hours the same by hour buckets as by minute buckets', async () => {
    const from = Math.floor(start / 3_600_000) * 60;
    const window = { from, to: from + 360, outcomes: null };
    const byHour = await countSeries(world, log, 'none', [''], window, 60);
    const byMinute = await countSeries(world, log, 'none', [''], window, 1);
    const hours = new Map<number, number>();
    for (const [minute, a, b, c] of byMinute.series[0] ?? []) {
      hours.set(minute - (minute % 60), (hours.get(minute - (minute % 60)) ?? 0) + a + b + c);
    }
    expect(new Map((byHour.series[0] ?? []).map(([hour, a, b, c]) => [hour, a + b + c]))).toEqual(hours);
  });

  test('recognises a repeated sealed record, and a changed one as a conflict', async () => {
    const again = records.slice(0, 400).map((record) => verdictRow(record, true));
    expect(await appendRows(world, log, again, arrivalNow())).toEqual({ accepted: 0, duplicates: 400, conflicting: 0 });
    const changed = records.slice(0, 10).map((record) => verdictRow({ ...record, status: 599 }, true));
    expect(await appendRows(world, log, changed, arrivalNow())).toEqual({
      accepted: 0,
      duplicates: 10,
      conflicting: 10,
    });
  });

  test('erases a session from rows and counts, and refuses it afterwards', async () => {
    const jti = 'session-4';
    const gone = records.filter((record) => record.jti === jti);
    expect(await eraseSession(world, log, jti)).toBe(gone.length);
    const rest = records.filter((record) => record.jti !== jti);
    expect(await allPages(world, log, everything, 1000)).toEqual(expected(rest, everything).map(({ id }) => id));
    const page = await readPage(world, log, {
      filter: everything,
      before: null,
      offset: 0,
      limit: 1,
      wantTotal: true,
    });
    expect(page.total).toBe(rest.length);
    const again = await appendRows(
      world,
      log,
      gone.map((record) => verdictRow(record, true)),
      arrivalNow(),
    );
    expect(again.accepted).toBe(0);
  });
});

test('rows, counts and sealed objects older than the retention are deleted together', async () => {
  const log: LogName = { stream: 'verdicts', owner: 'query-retention' };
  const day = 86_400_000;
  // Of one day, because each day is sealed into an object of its own.
  const oldDay = (Math.floor(start / day) - 3) * day;
  const old = made(log.owner, 1, 300).map((record) => ({ ...record, timestamp: oldDay + record.timestamp - start }));
  const fresh = made(log.owner, 2, 300);
  await appendRows(
    service,
    log,
    [...old].map((record) => verdictRow(record, true)),
    arrivalNow(2),
  );
  await seal(log, 1);
  await appendRows(
    service,
    log,
    fresh.map((record) => verdictRow(record, true)),
    arrivalNow(2),
  );
  const objects = async (): Promise<number> =>
    (await service.SEGMENTS.list({ prefix: 'verdicts/instance=query-retention/' })).objects.length;
  expect(await objects()).toBe(1);
  const id = service.VERDICT_SHARD.idFromName(`verdicts/${log.owner}:0:0`);
  await runDurableObjectAlarm(service.VERDICT_SHARD.get(id));
  expect(await objects()).toBe(0);
  const page = await readPage(service, log, {
    filter: everything,
    before: null,
    offset: 0,
    limit: 1000,
    wantTotal: true,
  });
  expect([page.rows.length, page.total]).toEqual([300, 300]);
});
