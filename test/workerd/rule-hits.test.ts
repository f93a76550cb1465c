/** How often edge access rules fired: in the listing, and as a time series of one rule. */
import { expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { shard, shardNames } from '../../src/store/event-log/client/shards.ts';
import { verdictLogOf } from '../../src/store/event-log/client/verdict-log.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { serviceEnv } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The start of an hour, so that the minutes of these tests are known. */
const hour = Math.floor(testNow() / HOUR_MS) * HOUR_MS - 5 * HOUR_MS;
const LONG_AGENT = 'x'.repeat(280);

type Instance = Awaited<ReturnType<typeof newInstance>>;

/** A logged request at this minute in which these rules fired. */
function fired(
  { id }: Instance,
  minute: number,
  decision: VerdictRecord['decision'],
  ...rules: string[]
): VerdictRecord {
  const fired_rules = rules.map((rule) => ({ id: rule, verdict: decision, mode: 'enforce' as const }));
  return verdictRecordOf(id, { timestamp: hour + minute * MINUTE_MS + 1234, decision, fired_rules });
}

async function seal({ id }: Instance): Promise<void> {
  for (const name of shardNames(serviceEnv, verdictLogOf({ id }), everything)) await shard(serviceEnv, name).seal();
}

const iso = (minute: number): string => new Date(hour + minute * MINUTE_MS).toISOString();

async function shop(): Promise<Instance> {
  const instance = await newInstance();
  const { status } = await instance.rules('/create', {
    rules: [
      { type: 'ip', value: '192.0.2.1', verdict: 'block' },
      { type: 'ipMask', value: '192.0.2.0/24', verdict: 'challenge', mode: 'monitor' },
      { type: 'asn', value: 64500, verdict: 'block' },
      { type: 'userAgent', value: `${LONG_AGENT}1`, verdict: 'block' },
      { type: 'userAgent', value: `${LONG_AGENT}2`, verdict: 'block' },
    ],
  });
  expect(status).toBe(200);
  await sendVerdicts(instance.jwt, 'before', [
    fired(instance, 0, 'block', 'ip:192.0.2.1', 'ipMask:192.0.2.0/24'),
    fired(instance, 1, 'block', 'ip:192.0.2.1', 'ipMask:192.0.2.0/24'),
    fired(instance, 61, 'allow', 'ipMask:192.0.2.0/24'),
    fired(instance, 62, 'allow'),
  ]);
  // Part of the counts are merged, and part are not.
  await seal(instance);
  await sendVerdicts(instance.jwt, 'after', [
    fired(instance, 125, 'block', 'ip:192.0.2.1'),
    fired(instance, 126, 'block', `userAgent:${LONG_AGENT}1`),
  ]);
  return instance;
}

test('the listing has how often each rule fired and when it did last', async () => {
  const { rules } = await shop();
  const { status, body } = await rules('', { limit: 10, hitsSince: 0 });
  expect(status).toBe(200);
  expect(body.hitsAreExact).toBe(true);
  expect(body.rules.map(({ value, hits }: any) => [value.slice(-14), hits])).toEqual([
    ['192.0.2.1', { total: 3, allow: 0, challenge: 0, block: 3, lastHitAt: iso(125) }],
    ['192.0.2.0/24', { total: 3, allow: 1, challenge: 0, block: 2, lastHitAt: iso(61) }],
    ['64500', { total: 0, allow: 0, challenge: 0, block: 0, lastHitAt: null }],
    [`${'x'.repeat(13)}1`, { total: 1, allow: 0, challenge: 0, block: 1, lastHitAt: iso(126) }],
    [`${'x'.repeat(13)}2`, { total: 0, allow: 0, challenge: 0, block: 0, lastHitAt: null }],
  ]);
});

test('hits are counted from the minute that the caller names, and not before the log begins', async () => {
  const { rules } = await shop();
  const { body } = await rules('', { limit: 10, hitsSince: new Date(hour + MINUTE_MS + 59_999).toISOString() });
  expect(body.hitsSince).toBe(iso(1));
  expect(body.rules.slice(0, 2).map(({ hits }: any) => hits.total)).toEqual([2, 2]);
  const all = await rules('', { matches: { ip: '192.0.2.1' }, hitsSince: 0 });
  expect(all.body.rules.map(({ hits }: any) => hits.total)).toEqual([3, 3]);
  expect(Date.parse(all.body.hitsSince)).toBeGreaterThan(testNow() - 31 * 24 * HOUR_MS);
});

test('a listing without hitsSince has no hits, and one with hits needs a limit', async () => {
  const { rules } = await newInstance();
  await rules('/create', { rules: [{ type: 'asn', value: 64500, verdict: 'block' }] });
  const { body } = await rules('', { limit: 1 });
  expect(Object.keys(body)).not.toContain('hitsSince');
  expect(Object.keys(body.rules[0])).not.toContain('hits');
  const refused = await rules('', { hitsSince: 0 });
  expect([refused.status, refused.body.error.details]).toEqual([400, [expect.objectContaining({ path: 'limit' })]]);
});

test('a rule that was listed with its hits can be sent back', async () => {
  const { rules } = await newInstance();
  await rules('/create', { rules: [{ type: 'asn', value: 64500, verdict: 'block' }] });
  const listed = await rules('', { limit: 1, hitsSince: 0 });
  const again = await rules('/create', { rules: listed.body.rules });
  expect([again.status, again.body.unchanged]).toEqual([200, 1]);
});

test('the hits of one rule come bucket by bucket, under any spelling of its value', async () => {
  const { rules } = await shop();
  const { status, body } = await rules('/hits', {
    type: 'ipMask',
    value: '192.0.2.77/24',
    since: hour,
    until: hour + 3 * HOUR_MS,
    bucket: 'hour',
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    rule: 'ipMask:192.0.2.0/24',
    since: hour,
    until: hour + 3 * HOUR_MS,
    bucketSeconds: 3600,
    total: 3,
    allow: 1,
    challenge: 0,
    block: 2,
    lastHitAt: iso(61),
    buckets: [
      { timestamp: hour, total: 2, allow: 0, challenge: 0, block: 2 },
      { timestamp: hour + HOUR_MS, total: 1, allow: 1, challenge: 0, block: 0 },
    ],
    isExact: true,
  });
  const minutes = await rules('/hits', { type: 'ip', value: '192.0.2.1', since: hour, bucket: 'minute' });
  expect(minutes.body.buckets.map(({ timestamp }: any) => (timestamp - hour) / MINUTE_MS)).toEqual([0, 1, 125]);
});

test('a value that no rule can have is refused, and a rule that never fired has no hits', async () => {
  const { rules } = await newInstance();
  const bad = await rules('/hits', { type: 'ip', value: '192.0.2' });
  expect([bad.status, bad.body.error.details]).toEqual([400, [expect.objectContaining({ path: 'value' })]]);
  const never = await rules('/hits', { type: 'ip', value: '192.0.2.9' });
  expect(never.body).toMatchObject({ total: 0, lastHitAt: null, buckets: [], isExact: true });
});
