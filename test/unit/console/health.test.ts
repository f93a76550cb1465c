/** What the console reads from the metrics of the service, and what it says about them. */
import { describe, expect, test } from 'vitest';
import { advice } from '../../../src/console/views/health/advice.ts';
import { metricFamilies } from '../../../src/console/views/health/exposition.ts';
import {
  clientJwtFinding,
  findingsOf,
  originFindings,
  seenOf,
  watched,
} from '../../../src/console/views/health/findings.ts';
import { metrics } from '../../../src/service/operations/protect/verdicts/metrics-table.ts';

const text = `# HELP gatehouse_dead_letters Batches that the queue gave up.
# TYPE gatehouse_dead_letters gauge
gatehouse_dead_letters{instance="inst_1"} 2
gatehouse_dead_letters{instance="inst_2"} 0
# HELP gatehouse_verdicts_dropped Verdicts that no sink accepted.
# TYPE gatehouse_verdicts_dropped counter
gatehouse_verdicts_dropped{instance="inst_1",reason="buffer-full"} 3
gatehouse_verdicts_dropped{instance="inst_1",reason="queue-failed"} 4
gatehouse_verdicts_dropped{instance="inst_2",reason="queue-failed"} 0
`;
const families = metricFamilies(text);
const finding = (name: string, seen = {}, instance = 'inst_1') =>
  findingsOf(families, instance, seen).find((one) => one.name === name);

describe('the metrics as text', () => {
  test('are read with help, type, labels and values', () => {
    expect(families.map(({ name, type, help }) => [name, type, help])).toEqual([
      ['gatehouse_dead_letters', 'gauge', 'Batches that the queue gave up.'],
      ['gatehouse_verdicts_dropped', 'counter', 'Verdicts that no sink accepted.'],
    ]);
    expect(families[1]?.samples[1]).toEqual({ labels: { instance: 'inst_1', reason: 'queue-failed' }, value: 4 });
  });

  test('may have escapes, a timestamp, and lines that nobody can read', () => {
    const [family] = metricFamilies('a{x="q\\"1\\n,{}",y=""} 1.5e3 1700000000000\nnot a sample at all\na{x="2"} NaN\n');
    expect(family?.samples).toEqual([{ labels: { x: 'q"1\n,{}', y: '' }, value: 1500 }]);
  });
});

describe('the watched metrics', () => {
  test('are exactly those that should wake somebody, each with what is normal and what to do', () => {
    const waking = metrics.filter(({ wakes }) => wakes === true).map(({ name }) => name);
    expect(Object.keys(watched).toSorted()).toEqual(waking.toSorted());
    expect(Object.keys(advice).toSorted()).toEqual(waking.toSorted());
  });

  test('of another instance do not count', () => {
    expect(finding('dead_letters')).toMatchObject({ state: 'act', total: 2, since: null });
    expect(finding('dead_letters', {}, 'inst_2')).toMatchObject({ state: 'fine', total: 0 });
  });

  test('need nobody for single calls of the service that failed', () => {
    const afterCalls = (failed: number) =>
      findingsOf(
        metricFamilies(
          `# TYPE gatehouse_service_failures counter\ngatehouse_service_failures{instance="i"} ${failed}\n`,
        ),
        'i',
        {},
      )[0]?.state;
    expect([0, 1, 5, 6].map(afterCalls)).toEqual(['fine', 'fine', 'fine', 'look']);
  });

  test('that are counters count from the moment when somebody has seen them', () => {
    expect(finding('verdicts_dropped')).toMatchObject({ state: 'act', total: 7, since: 7 });
    const seen = seenOf(findingsOf(families, 'inst_1', {}));
    expect(seen).toEqual({ verdicts_dropped: 7 });
    expect(finding('verdicts_dropped', seen)).toMatchObject({ state: 'fine', total: 7, since: 0 });
    expect(finding('verdicts_dropped', { verdicts_dropped: 5 })).toMatchObject({ state: 'act', since: 2 });
  });

  test('that began anew count from zero', () => {
    expect(finding('verdicts_dropped', { verdicts_dropped: 900 })).toMatchObject({ state: 'act', since: 7 });
  });
});

describe('the named origins', () => {
  const counted = metricFamilies(`# TYPE gatehouse_named_origin_requests counter
gatehouse_named_origin_requests{instance="inst_1",origin="api"} 40
gatehouse_named_origin_requests{instance="inst_1",origin="shop"} 9
gatehouse_named_origin_requests{instance="inst_2",origin="shop"} 5
# TYPE gatehouse_named_origin_failures counter
gatehouse_named_origin_failures{instance="inst_1",origin="api"} 3
gatehouse_named_origin_failures{instance="inst_2",origin="shop"} 5
`);
  const found = (seen = {}) => originFindings(['api', 'new', 'shop'], counted, 'inst_1', seen);

  test('have their own requests and failures, and those of no other instance', () => {
    expect(found()).toEqual([
      { name: 'api', state: 'act', requests: 40, failures: 3, since: 3 },
      { name: 'new', state: 'fine', requests: 0, failures: 0, since: 0 },
      { name: 'shop', state: 'fine', requests: 9, failures: 0, since: 0 },
    ]);
  });

  test('count their failures from the moment when somebody has seen them', () => {
    const seen = seenOf(findingsOf(counted, 'inst_1', {}));
    expect(found(seen)[0]).toMatchObject({ state: 'fine', failures: 3, since: 0 });
    expect(found({ 'named_origin_failures api': 1 })[0]).toMatchObject({ state: 'act', since: 2 });
    expect(found({ 'named_origin_failures api': 50 })[0]).toMatchObject({ state: 'act', since: 3 });
  });
});

describe('the client JWTs', () => {
  const nowMs = 1_800_000_000_000;
  const inDays = (days: number, status = 'active') => ({ status, expiresAt: nowMs + days * 86_400_000 });

  test('are fine while one works for two weeks', () => {
    expect(clientJwtFinding([inDays(1), inDays(15)], nowMs).state).toBe('fine');
    expect(clientJwtFinding([inDays(13)], nowMs).state).toBe('act');
  });

  test('need somebody when none works', () => {
    expect(clientJwtFinding([inDays(90, 'revoked'), inDays(-1, 'expired')], nowMs)).toEqual({
      state: 'act',
      expiresAt: null,
    });
  });
});
