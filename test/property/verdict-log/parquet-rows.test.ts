/**
 * Records through Parquet and back, with hostile texts and numbers. hyparquet reads the same file from its footer as a
 * second opinion.
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import {
  botBehaviours,
  botProofs,
  decisions,
  deviceTypes,
  ipCategories,
  pathTypes,
  sessionStatuses,
  verdictSources,
} from '../../../src/contract/vocabulary.ts';
import { telemetryTraits } from '../../../src/contract/edge/page-report-names.ts';
import { captchaRecordTypes, captchaStatuses } from '../../../src/store/event-log/captcha-record.ts';
import { UnreadableSegmentError } from '../../../src/store/event-log/parquet/byte-cursor.ts';
import { captchaSchema } from '../../../src/store/event-log/parquet/captcha-schema.ts';
import { readRowGroup, type RowGroup } from '../../../src/store/event-log/parquet/row-group-reader.ts';
import { schemaOf } from '../../../src/store/event-log/parquet/schema-of.ts';
import { SEGMENT_VERSION, readSegmentFooter } from '../../../src/store/event-log/parquet/segment-footer.ts';
import { SegmentWriter } from '../../../src/store/event-log/parquet/segment-writer.ts';
import type { StreamSchema } from '../../../src/store/event-log/parquet/stream-schema.ts';
import { telemetrySchema } from '../../../src/store/event-log/parquet/telemetry-schema.ts';
import { verdictSchema } from '../../../src/store/event-log/parquet/verdict-schema.ts';
import { propertySeed, runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';
import { seededRandom, variedRecord } from '../../support/verdict-record.ts';

const hostile = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  fc.constantFrom(
    '',
    '\uFEFFmark',
    '\ud800',
    'a\udfff',
    '\u0000\u001f\u007f\u2028',
    '\\ud800',
    '𐍈'.repeat(9),
    'x'.repeat(1024),
  ),
);
const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 3 });
const wholeNumber = fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER));
const real = fc.double({ noNaN: true, noDefaultInfinity: true });
const moment = fc.oneof(fc.integer({ min: 1_780_000_000_000, max: 1_780_000_060_000 }), fc.maxSafeNat());
const listOf = <T>(values: readonly T[]): fc.Arbitrary<T[]> => fc.array(fc.constantFrom(...values), { maxLength: 4 });

const verdict = fc.constantFrom(...decisions);
/** In the order of a stored record; those that are missing are left out by JSON. */
const recordedInputs = fc.option(
  fc.record({
    network: fc.option(fc.record({ verdict, id: hostile, type: fc.constant('ip') }), { nil: undefined }),
    risk: fc.option(fc.record({ verdict }), { nil: undefined }),
    policy: fc.option(fc.record({ verdict, reason: hostile }), { nil: undefined }),
  }),
  { nil: undefined },
);

const verdicts = fc.record({
  v: fc.constant(1),
  id: fc.uuid(),
  request_id: hostile,
  timestamp: moment,
  instance_id: hostile,
  site_key: hostile,
  jti: orNull(hostile),
  ip: orNull(hostile),
  ip_category: listOf(ipCategories),
  country: orNull(hostile),
  asn: orNull(fc.nat(4_294_967_295)),
  ja4: orNull(hostile),
  user_agent: hostile,
  bot: orNull(fc.record({ id: hostile, behaviours: listOf(botBehaviours), proof: fc.constantFrom(...botProofs) })),
  device_type: fc.constantFrom(...deviceTypes),
  method: hostile,
  host: hostile,
  request_path: hostile,
  path_type: fc.constantFrom(...pathTypes),
  decision: fc.constantFrom(...decisions),
  source: fc.constantFrom(...verdictSources),
  decided_by: hostile,
  fired_rules: fc.array(
    fc.record({ id: hostile, verdict: fc.constantFrom(...decisions), mode: fc.constantFrom('enforce', 'monitor') }),
    { maxLength: 5 },
  ),
  inputs: recordedInputs,
  explain: fc.option(hostile, { nil: undefined }),
  enforcement_policy: fc.constantFrom('enforce', 'monitor', 'rollout-excluded'),
  session_status: fc.constantFrom(...sessionStatuses),
  verified: orNull(fc.boolean()),
  level: orNull(wholeNumber),
  risk_score: orNull(fc.double({ min: 0, max: 1, noNaN: true })),
  status: wholeNumber,
  origin_ms: orNull(real),
  ruleset_version: wholeNumber,
  edge: fc.record({ colo: hostile, version: hostile, isolate: hostile, seq: fc.maxSafeNat() }),
});

const captchas = fc.record({
  v: fc.constant(1),
  id: fc.uuid(),
  jti: hostile,
  account_id: hostile,
  site_key: hostile,
  timestamp: moment,
  captcha_type: fc.constantFrom(...captchaRecordTypes),
  ip: orNull(hostile),
  asn: orNull(fc.nat()),
  country: orNull(hostile),
  ja4: orNull(hostile),
  user_agent: hostile,
  device_type: hostile,
  ip_category: listOf(ipCategories),
  host: orNull(hostile),
  action: orNull(hostile),
  lane: orNull(hostile),
  user_account: orNull(hostile),
  session: orNull(hostile),
  web_view: orNull(fc.boolean()),
  iframe: orNull(fc.boolean()),
  score: orNull(real),
  threshold: orNull(real),
  detectors: fc.array(hostile, { maxLength: 4 }),
  selection_reason: orNull(hostile),
  access_rule: orNull(hostile),
  policy_type: orNull(fc.constantFrom('block', 'restrict')),
  issued: fc.boolean(),
  status: fc.constantFrom(...captchaStatuses),
  result_reason: orNull(hostile),
  submitted_at: orNull(moment),
  submitted_correct: orNull(fc.boolean()),
  verified_at: orNull(moment),
  verified: orNull(fc.boolean()),
});

const reports = fc.record({
  v: fc.constant(1),
  id: fc.uuid(),
  timestamp: moment,
  instance_id: hostile,
  jti: hostile,
  report: fc.record({
    v: fc.constant(1),
    elapsedMs: wholeNumber,
    visibleMs: wholeNumber,
    firstInteractionMs: orNull(wholeNumber),
    pointerMoves: wholeNumber,
    presses: wholeNumber,
    touches: wholeNumber,
    leaps: wholeNumber,
    keys: wholeNumber,
    wheels: wholeNumber,
    scrolls: wholeNumber,
    untrusted: wholeNumber,
    keyGaps: wholeNumber,
    keyGapMeanMs: wholeNumber,
    keyGapDeviationMs: wholeNumber,
    traits: listOf(telemetryTraits),
  }),
  edge: fc.record({ isolate: hostile, seq: fc.maxSafeNat() }),
});

interface Written {
  bytes: Uint8Array;
  groups: (RowGroup & { start: number; length: number })[];
}

function written<Flat>(schema: StreamSchema<Flat>, bodies: readonly string[], groupRows: number): Written {
  const writer = new SegmentWriter(schema);
  const groups: Written['groups'] = [];
  for (const [at, body] of bodies.entries()) {
    writer.add(JSON.parse(body) as object, body);
    const { rows } = writer;
    if (rows === groupRows || at === bodies.length - 1) groups.push({ rows, ...writer.endRowGroup() });
  }
  writer.end({});
  return { bytes: writer.take(), groups };
}

function readAll<Flat>(schema: StreamSchema<Flat>, { bytes, groups }: Written): string[] {
  return groups.flatMap((group) =>
    readRowGroup(schema, bytes.subarray(group.start, group.start + group.length), group, null),
  );
}

function holdsFor<Flat>(schema: StreamSchema<Flat>, records: fc.Arbitrary<object>): void {
  fc.assert(
    fc.property(
      fc.array(records, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 40 }),
      fc.func(fc.boolean()),
      (list, groupRows, isWanted) => {
        const bodies = list.map((record) => JSON.stringify(record));
        const file = written(schema, bodies, groupRows);
        expect(readAll(schema, file)).toEqual(bodies);
        let first = 0;
        for (const group of file.groups) {
          const rows = Array.from({ length: group.rows }, (_, row) => row).filter((row) => isWanted(row));
          const bytes = file.bytes.subarray(group.start, group.start + group.length);
          expect(readRowGroup(schema, bytes, group, rows)).toEqual(rows.map((row) => bodies[first + row]));
          first += group.rows;
        }
      },
    ),
    { numRuns: runs(60) },
  );
}

describe('rows of a Parquet segment', () => {
  test('are the verdicts that were written, byte for byte', () => {
    holdsFor(verdictSchema, verdicts);
  });

  test('are the captchas that were written, byte for byte', () => {
    holdsFor(captchaSchema, captchas);
  });

  test('are the reports of pages that were written, byte for byte', () => {
    holdsFor(telemetrySchema, reports);
  });

  const stored = Array.from({ length: Number(SEGMENT_VERSION) }, (_, at) => at + 1).flatMap((version) =>
    ['verdicts', 'captcha', 'telemetry'].map((stream) => ({ version, stream })),
  );

  test('are read from a segment of each stream that each version wrote', () =>
    expectRows(stored, ({ version, stream }) => {
      const path = `test/fixtures/segments/${version}/${stream}`;
      const bytes = new Uint8Array(readFileSync(`${path}.parquet`));
      const bodies = readFileSync(`${path}.ndjson`, 'utf8').trimEnd().split('\n');
      const { groups } = readSegmentFooter(bytes);
      expect(readAll(schemaOf(stream), { bytes, groups })).toEqual(bodies);
      const part = groups.flatMap(({ start, length, ...group }) =>
        readRowGroup(schemaOf(stream), bytes.subarray(start, start + length), group, [3, 14]),
      );
      expect(part).toEqual([3, 14, 28, 39].map((row) => bodies[row]));
    }));

  test('come back from records of another form too', () => {
    const odd = ['{"v":1}', '{"fired_rules":[],"edge":{},"id":7,"bot":{"id":[]}}', '{"edge":null}'];
    const random = seededRandom(3);
    const plain = JSON.stringify(variedRecord('i', 1_780_000_000_000, random, 1));
    const bodies = [plain, ...odd, plain];
    expect(readAll(verdictSchema, written(verdictSchema, bodies, 10))).toEqual(bodies);
  });

  test('have the same values for another reader of Parquet', async () => {
    const random = seededRandom(11);
    const records = Array.from({ length: 300 }, (_, at) => {
      const record = variedRecord('i', 1_780_000_000_000 + at, random, at);
      return { ...record, request_id: record.id };
    });
    const { bytes } = written(
      verdictSchema,
      records.map((record) => JSON.stringify(record)),
      100,
    );
    const rows = await parquetReadObjects({ file: bytes.slice().buffer });
    expect(rows).toHaveLength(300);
    for (const [at, row] of rows.entries()) {
      const record = records[at] as (typeof records)[number];
      expect(row).toMatchObject({
        id: record.id,
        request_id: record.id,
        timestamp: new Date(record.timestamp),
        jti: record.jti,
        ip_category: record.ip_category,
        asn: record.asn === null ? null : BigInt(record.asn),
        bot_id: record.bot?.id ?? null,
        bot_behaviours: record.bot?.behaviours ?? [],
        request_path: record.request_path,
        fired_rule_ids: record.fired_rules.map((rule) => rule.id),
        risk_score: record.risk_score,
        inputs: JSON.stringify(record.inputs),
        explain: null,
        edge_seq: BigInt(record.edge.seq),
        record: null,
      });
    }
  });

  test('are at most 62 bytes each for traffic of a typical day, and 30 more for a second id', () => {
    const bytesOf = (requestId: (id: string) => string): number => {
      const random = seededRandom(5);
      const bodies = Array.from({ length: 3000 }, (_, at) => {
        const record = variedRecord('i', 1_780_000_000_000 + at * 60, random, at);
        return JSON.stringify({ ...record, request_id: requestId(record.id) });
      });
      return written(verdictSchema, bodies, 1000).bytes.length / 3000;
    };
    expect(bytesOf(() => 'request-1')).toBeLessThan(62);
    expect(bytesOf((id) => id)).toBeLessThan(92);
  });

  test('are refused with one error when bytes are damaged or cut off', () => {
    const random = seededRandom(propertySeed);
    const bodies = Array.from({ length: 50 }, (_, at) =>
      JSON.stringify(variedRecord('i', 1_780_000_000_000 + at, random, at)),
    );
    const { bytes, groups } = written(verdictSchema, bodies, 50);
    const [group] = groups as [Written['groups'][number]];
    const whole = bytes.subarray(group.start, group.start + group.length);
    for (let round = 0; round < runs(400); round++) {
      const damaged = whole.slice(0, round % 2 === 0 ? whole.length : Math.floor(random() * whole.length));
      for (let change = 0; change < 3; change++) damaged[Math.floor(random() * damaged.length)] = random() * 256;
      try {
        expect(readRowGroup(verdictSchema, damaged, group, null)).toHaveLength(50);
      } catch (error) {
        expect(error).toBeInstanceOf(UnreadableSegmentError);
      }
    }
  });
});
