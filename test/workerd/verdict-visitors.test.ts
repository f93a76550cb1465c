/**
 * Visitors without the gate's own calls: every number that the API returns of a mixture of both, against the records
 * themselves, with and without the own calls.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { verdictDimensions } from '../../src/contract/management/verdict-query.ts';
import { decisions, verdictSources } from '../../src/contract/vocabulary.ts';
import { storedDimensions } from '../../src/store/event-log/count-dimensions.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';
import { seededRandom, sinkBatchOf, variedRecord } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call, send } from './service/service-under-test.ts';

const HOUR_MS = 3_600_000;
const RECORDS = 400;
const TOP = 4;

type Gate = Awaited<ReturnType<typeof newInstance>>;

/** Every third record is a call of the gate's own. */
async function mixture(seed: number): Promise<{ gate: Gate; records: VerdictRecord[]; since: number; until: number }> {
  const gate = await newInstance();
  const random = seededRandom(seed);
  const until = Math.floor(testNow() / HOUR_MS) * HOUR_MS;
  const since = until - 3 * HOUR_MS;
  const records = Array.from({ length: RECORDS }, (_, seq) => {
    const record = variedRecord(gate.id, since + Math.floor((random() * (until - since)) / 10) * 10, random, seq);
    record.edge.isolate = `visitors-${seed}`;
    return seq % 3 === 0 ? { ...record, source: 'internal' as const } : record;
  });
  const { batchId } = sinkBatchOf(`visitors-${seed}`, records);
  expect((await sendVerdicts(gate.jwt, batchId, records)).status).toBe(200);
  return { gate, records, since, until };
}

/** The values of a record in a dimension, as the API names them. */
function valuesOf(record: VerdictRecord, groupBy: (typeof verdictDimensions)[number]): (string | null)[] {
  switch (groupBy) {
    case 'none':
      return [null];
    case 'asn':
      return [record.asn === null ? null : String(record.asn)];
    case 'ip_category':
      return record.ip_category.length === 0 ? [null] : [...record.ip_category];
    case 'fired_rule':
      return record.fired_rules.length === 0 ? [null] : record.fired_rules.map(({ id }) => id);
    case 'bot':
      return [record.bot?.id ?? null];
    case 'bot_proof':
      return [record.bot?.proof ?? null];
    default:
      return [record[groupBy] as string | null];
  }
}

function counted(records: readonly VerdictRecord[]): Record<string, number> {
  const of = Object.fromEntries(
    decisions.map((decision) => [decision, records.filter((record) => record.decision === decision).length]),
  );
  return { total: records.length, ...of };
}

const countsIn = ({ total, allow, challenge, block }: Record<string, number>) => ({ total, allow, challenge, block });
const sumOf = (parts: readonly { total: number }[]): number => parts.reduce((sum, { total }) => sum + total, 0);
const shardOf = ({ id }: Gate) => (env as ServiceEnv).VERDICT_SHARD.getByName(`verdicts/${id}:0:0`);

/** The counts leave memory and are merged into the stored ones. */
async function seal(gate: Gate): Promise<void> {
  const shard = shardOf(gate);
  await shard.tune({ hotRowsMax: 50, segmentRows: 150 });
  while ((await shard.seal()) >= 150);
  await evictDurableObject(shard);
}

const states: [string, number, (gate: Gate) => Promise<void>][] = [
  ['that just arrived', 1, async () => undefined],
  ['that are sealed', 2, seal],
];

describe.each(states)('of records %s', (_name, seed, prepare) => {
  test.each([
    ['with the own calls', true],
    ['without the own calls', false],
  ])('every number is that of the records, %s', async (_position, includeInternal) => {
    const { gate, records, since, until } = await mixture(seed * 2 + Number(includeInternal));
    await prepare(gate);
    const shown = records.filter(({ source }) => includeInternal || source !== 'internal');
    const window = { since, until, includeInternal };
    const ask = async (path: string, body: object): Promise<any> => (await call(gate.token, path, body)).body;

    const list = await ask('/protect/verdicts', { ...window, limit: 1000 });
    expect([list.total, list.totalIsExact, list.verdicts.length]).toEqual([shown.length, true, shown.length]);
    const blocked = await ask('/protect/verdicts', { ...window, decision: 'block', limit: 1 });
    expect(blocked.total).toBe(counted(shown).block);
    const found = await ask('/protect/verdicts/search', { ...window, asn: 64_500, limit: 1 });
    expect(found.total).toBe(shown.filter(({ asn }) => asn === 64_500).length);
    const exported = await send('/protect/verdicts/export', {
      method: 'POST',
      headers: { authorization: `Bearer ${gate.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(window),
    });
    expect((await exported.text()).split('\n').filter(Boolean)).toHaveLength(shown.length);
    const internal = await ask('/protect/verdicts', { ...window, sources: ['internal', 'risk'], limit: 1 });
    expect(internal.total).toBe(shown.filter(({ source }) => source === 'internal' || source === 'risk').length);

    const summary = await ask('/protect/traffic-summary', { ...window, bucket: 'hour' });
    expect(countsIn(summary)).toEqual(counted(shown));
    expect(sumOf(summary.buckets)).toBe(shown.length);
    const ofBot = await ask('/protect/traffic-summary', { ...window, bucket: 'minute', bot: 'bot-3' });
    expect(countsIn(ofBot)).toEqual(counted(shown.filter(({ bot }) => bot?.id === 'bot-3')));
    const bySource = await ask('/protect/traffic-summary', { ...window, source: ['internal', 'risk'] });
    expect(bySource.total).toBe(internal.total);

    const bots = await ask('/protect/bots/traffic', window);
    expect([bots.total, bots.isExact]).toEqual([shown.length, true]);
    const named = shown.filter(({ bot }) => bot !== null);
    expect(sumOf(bots.bots) + sumOf(bots.impostors)).toBe(named.length);
    for (const { id, total, share } of bots.bots) {
      const own = named.filter(({ bot }) => bot?.id === id && bot?.proof !== 'impostor').length;
      expect([id, total, share]).toEqual([id, own, own / shown.length]);
    }

    const { sources } = await ask('/protect/verdicts/distinct-sources', window);
    expect(new Map(sources.map((one: any) => [one.source, one.total]))).toEqual(
      new Map(
        verdictSources
          .map((source) => [source, shown.filter((record) => record.source === source).length] as const)
          .filter(([, total]) => total > 0),
      ),
    );
    const { firedRules } = await ask('/protect/verdicts/distinct-fired-rules', window);
    for (const { id, total } of firedRules) {
      expect([id, total]).toEqual([id, shown.filter((record) => valuesOf(record, 'fired_rule').includes(id)).length]);
    }

    await expectRows(verdictDimensions, async (groupBy) => {
      for (const chosen of [{ bucket: 'minute' }, { bucket: 'hour' }, { decision: 'block' }] as const) {
        const answer = await ask('/protect/traffic-by-dimension', { ...window, groupBy, topN: TOP, ...chosen });
        const seen = 'decision' in chosen ? shown.filter(({ decision }) => decision === 'block') : shown;
        expect(countsIn(answer)).toEqual(counted(seen));
        expect([answer.isExact, answer.internalLeft]).toEqual([true, 0]);
        for (const one of answer.series) {
          expect([one.value, countsIn(one)]).toEqual([
            one.value,
            counted(seen.filter((record) => valuesOf(record, groupBy).includes(one.value))),
          ]);
          expect(sumOf(one.points)).toBe(one.total);
        }
        const all = seen.flatMap((record) => valuesOf(record, groupBy));
        const largest = [...Map.groupBy(all, (value) => value).values()].map(({ length }) => length);
        expect(answer.series.map(({ total }: any) => total)).toEqual(largest.toSorted((a, b) => b - a).slice(0, TOP));
        expect(answer.other.values).toBe(Math.max(0, largest.length - TOP));
        expect(sumOf(answer.series) + answer.other.total).toBe(all.length);
        expect(sumOf(answer.other.points)).toBe(answer.other.total);
      }
    });
  });
});

test('the live tail leaves the own calls out', async () => {
  const { gate, records } = await mixture(11);
  const tail = await call(gate.token, '/protect/verdicts/tail', { limit: 1000, includeInternal: false });
  const ids = tail.body.verdicts.map(({ id }: VerdictRecord) => id);
  expect(ids).toEqual(records.filter(({ source }) => source !== 'internal').map(({ id }) => id));
});

test('counts of before the log told the own calls apart say how many of them are still in', async () => {
  const { gate, records, since, until } = await mixture(12);
  await seal(gate);
  const visitors = records.filter(({ source }) => source !== 'internal');
  const body = { since, until, groupBy: 'country', includeInternal: false };
  const shard = shardOf(gate);
  const before = await call(gate.token, '/protect/traffic-by-dimension', body);
  expect(before.body.internalLeft).toBe(0);
  await runInDurableObject(shard, (_, { storage }) => {
    storage.sql.exec('DELETE FROM rollups WHERE dimension = ?', storedDimensions.indexOf('internal'));
  });
  const { body: answer } = await call(gate.token, '/protect/traffic-by-dimension', body);
  const counts = await call(gate.token, '/protect/traffic-summary', { since, until, includeInternal: false });
  expect(answer.total).toBe(visitors.length);
  expect(counts.body.total).toBe(visitors.length);
  expect(answer.internalLeft).toBeGreaterThan(100);
  expect(sumOf(answer.series) + answer.other.total).toBe(visitors.length + answer.internalLeft);
});
