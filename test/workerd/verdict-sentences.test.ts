/** A reader of a verdict gets the sentence that says why, written from what the log keeps; older records keep theirs. */
import { beforeAll, expect, test } from 'vitest';
import { parquetReadObjects } from 'hyparquet';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call, send } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';

const WRITTEN = 'Blocked by rule asn:64496; over risk score 0.70 (challenge); ruleset version 1.';
const STORED = 'Blocked by a rule, as an older edge said it.';
const rule = { id: 'asn:64496', verdict: 'block', mode: 'enforce' } as const;
const inputs = { network: { verdict: 'block', id: rule.id, type: 'asn' }, risk: { verdict: 'challenge' } } as const;

let instance: Awaited<ReturnType<typeof newInstance>>;
let records: VerdictRecord[];
/** Of a response with verdicts in any order: the sentence of each, newest first. */
const sentences = (verdicts: VerdictRecord[]): unknown[] =>
  verdicts.toSorted((one, other) => other.timestamp - one.timestamp).map(({ explain }) => explain);
const read = async (path: string, body: object = {}) => (await call(instance.token, path, body)).body;
const exported = (format: string): Promise<Response> =>
  send('/protect/verdicts/export', {
    method: 'POST',
    headers: { authorization: `Bearer ${instance.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ format }),
  });

beforeAll(async () => {
  instance = await newInstance();
  const facts: Partial<VerdictRecord> = {
    fired_rules: [rule],
    decision: 'block',
    source: 'access-rule',
    decided_by: rule.id,
    risk_score: 0.7,
  };
  const now = testNow() - 60_000;
  records = [
    verdictRecordOf(instance.id, { ...facts, timestamp: now, inputs }),
    verdictRecordOf(instance.id, { ...facts, timestamp: now - 1, explain: STORED }),
  ].map((record) => ({ ...record, request_id: record.id }));
  expect((await sendVerdicts(instance.jwt, 'sentences', records)).status).toBe(200);
});

test.each(['', '/search', '/tail'])('in /protect/verdicts%s', async (path) => {
  const { verdicts } = await read(`/protect/verdicts${path}`);
  expect(sentences(verdicts)).toEqual([WRITTEN, STORED]);
  expect(verdicts.find(({ explain }: VerdictRecord) => explain === WRITTEN)).toMatchObject({ inputs });
  expect(verdicts.find(({ explain }: VerdictRecord) => explain === STORED)).not.toHaveProperty('inputs');
});

test('in what a reference finds', async () => {
  const found = await Promise.all(records.map(({ id }) => read('/protect/verdicts/find', { reference: id })));
  expect(found.map(({ verdicts }) => verdicts[0].explain)).toEqual([WRITTEN, STORED]);
});

test('in both forms of an export', async () => {
  const lines = (await (await exported('ndjson')).text()).trimEnd().split('\n');
  expect(sentences(lines.map((line) => JSON.parse(line) as VerdictRecord))).toEqual([WRITTEN, STORED]);
  const rows = await parquetReadObjects({ file: await (await exported('parquet')).arrayBuffer() });
  expect(rows.map(({ explain, inputs: json, record }) => [explain, json, record])).toEqual([
    [WRITTEN, JSON.stringify(inputs), null],
    [STORED, null, null],
  ]);
});

test('of a call of the gate itself says why it passed, also where an older edge recorded what was decided then', async () => {
  const other = await newInstance();
  const challenged = { inputs: { policy: { verdict: 'challenge', reason: 'onPending' } } } as const;
  const record = verdictRecordOf(other.id, {
    timestamp: testNow() - 60_000,
    request_path: '/__protect/session',
    source: 'internal',
    decided_by: 'policy:onPending',
    ...challenged,
  });
  expect((await sendVerdicts(other.jwt, 'internal', [record])).status).toBe(200);
  const { body } = await call(other.token, '/protect/verdicts', {});
  expect(body.verdicts).toMatchObject([
    { explain: expect.stringMatching(/^Allowed: one of the gate's own addresses/) },
  ]);
});
