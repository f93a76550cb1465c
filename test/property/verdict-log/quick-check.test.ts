/** The quick check of a verdict record against zod: zod accepts whatever it accepts, without a change. */
import * as fc from 'fast-check';
import * as z from 'zod/mini';
import { expect, test } from 'vitest';
import { type VerdictRecord, verdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { quickCheck } from '../../../src/service/ingest/quick-check.ts';
import { propertySeed, runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';
import { seededRandom, variedRecord, verdictRecordOf } from '../../support/verdict-record.ts';

const check = quickCheck(verdictRecord);
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, '', 0, -1, 1.5, NaN, Infinity, 2 ** 53, 1e12, 'allow', [], {}, [
    'tor',
  ]),
  fc.string(),
  fc.string({ minLength: 1020, maxLength: 1030 }),
  fc.double(),
  fc.array(fc.constant({ id: 'ip:192.0.2.1', verdict: 'block', mode: 'enforce' }), { minLength: 60, maxLength: 70 }),
  fc.record({ network: fc.record({ verdict: fc.constant('block'), id: fc.string(), type: fc.string() }) }),
  fc.record({ risk: fc.record({ verdict: fc.constantFrom('allow', 'odd') }), client: fc.constantFrom({}, undefined) }),
  fc.record({ colo: fc.string(), version: fc.string(), isolate: fc.string(), seq: fc.integer() }),
);

const plain = (given: Partial<VerdictRecord> = {}) =>
  verdictRecordOf('instance-1', { timestamp: 1_800_000_000_000, ...given });
/** As it arrives. */
const received = (given?: Partial<VerdictRecord>) => JSON.parse(JSON.stringify(plain(given))) as object;
const without = (record: object, name: string): object =>
  Object.fromEntries(Object.entries(record).filter(([other]) => other !== name));

test('accepts every record that the edge writes', () => {
  const random = seededRandom(propertySeed);
  for (let turn = 0; turn < runs(500); turn++) {
    const record: unknown = JSON.parse(JSON.stringify(variedRecord('instance-1', 1_800_000_000_000, random, turn)));
    expect(check(z.parse(verdictRecord, record))).toBe(true);
  }
});

test('accepts nothing that zod refuses or changes, whatever value one field has', () => {
  const members = Object.keys(plain());
  fc.assert(
    fc.property(fc.constantFrom(...members), odd, (name, value) => {
      const given = Object.entries({ ...plain(), [name]: value });
      const record = Object.fromEntries(given.filter(([other, held]) => held !== undefined || other === name));
      if (!check(record)) return;
      expect(JSON.stringify(z.parse(verdictRecord, record))).toBe(JSON.stringify(record));
    }),
    { numRuns: runs(5000) },
  );
});

test('leaves to zod what differs in a member', () =>
  expectRows<[string, (record: Record<string, unknown>) => unknown]>(
    [
      ['a member more', (record) => ({ ...record, surprise: true })],
      ['a member less', (record) => without(record, 'host')],
      ['an optional member that is undefined', (record) => ({ ...record, inputs: undefined })],
      ['another order', ({ v, ...record }) => ({ ...record, v })],
      [
        'a member of an inner object more',
        (record) => ({ ...record, edge: { ...(record['edge'] as object), more: 1 } }),
      ],
      ['a prototype as a member', (record) => JSON.parse(JSON.stringify(record).replace('{', '{"__proto__":{},'))],
      ['an array', (record) => [record]],
      ['an array in place of an object whose members are all optional', (record) => ({ ...record, inputs: [] })],
    ],
    ([, change]) => {
      const record = z.parse(verdictRecord, received()) as unknown as Record<string, unknown>;
      expect(check(record)).toBe(true);
      expect(check(change(record))).toBe(false);
    },
  ));

test('accepts records of older edges, which have a sentence and no inputs', () => {
  const record = received({ explain: 'why' });
  for (const given of [record, without(record, 'bot'), without(record, 'explain')]) {
    expect(check(z.parse(verdictRecord, given))).toBe(true);
  }
});

test('refuses a schema with a check that it does not know', () =>
  expectRows(
    [
      ['a field with a default', z.strictObject({ a: z._default(z.string(), '') })],
      ['an object that allows unknown fields', z.object({ a: z.string() })],
      ['a pattern', z.string().check(z.regex(/a/))],
      ['a refinement', z.string().check(z.refine((text) => text !== 'x'))],
    ],
    ([, schema]) => {
      expect(() => quickCheck(schema)).toThrow(/quick check/);
    },
  ));
