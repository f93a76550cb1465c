/**
 * Conditions of an audit search as tests of the JSON texts of fields, and as a search of sealed captchas, which have a
 * column for every field. Unsealed captchas are tested by their bodies.
 */
import type { CaptchaCondition } from '../captcha-condition.ts';
import { type CaptchaField, captchaFields } from '../captcha-fields.ts';
import { contains, type FieldTest, has, is } from './field-test.ts';
import { isToldApart } from './key-lookup.ts';
import type { ColumnTest, SegmentSearch } from './segment-search.ts';

interface CaptchaTest extends ColumnTest {
  field: CaptchaField;
}

/** Number of the field's column. */
export function columnNo(field: CaptchaField): number {
  return captchaFields.indexOf(field) + 1;
}

/** At least one of the tests must pass. */
export function fieldTests(condition: CaptchaCondition): CaptchaTest[] {
  const fields = 'fields' in condition ? condition.fields : [condition.field];
  return fields.map((field) => ({ field, column: columnNo(field), test: testOf(condition) }));
}

function testOf(condition: CaptchaCondition): FieldTest {
  if ('contains' in condition) return contains(condition.contains);
  if ('is' in condition) return is(condition.is);
  return 'has' in condition ? has(condition.has, true) : has(condition.lacks, false);
}

const valueAt = /"(?:[^"\\]|\\.)*"|\[(?:"(?:[^"\\]|\\.)*",?)*\]|[^,}]+/y;

/** The JSON text of one field of a stored captcha, without parsing the rest. */
export function fieldText(body: string, field: CaptchaField): string {
  const name = `"${field}":`;
  const at = body.indexOf(name);
  if (at === -1) return 'null';
  valueAt.lastIndex = at + name.length;
  return valueAt.exec(body)?.[0] ?? 'null';
}

/** A condition on several fields would search for each of them. One test of the whole body rules out most rows. */
export function passesAny(tests: readonly CaptchaTest[], body: string): boolean {
  if (tests.length > 1 && !tests[0]?.test.mayPass(body)) return false;
  return tests.some(({ field, test }) => test.passes(fieldText(body, field)));
}

/** Conditions on fields with few distinct values come first: they rule out the most rows at the lowest cost. */
export function cheapestFirst(conditions: readonly CaptchaCondition[]): CaptchaCondition[] {
  return [...conditions].sort((a, b) => cost(a) - cost(b));
}

const manyValued: ReadonlySet<CaptchaField> = new Set(['ip', 'user_agent', 'user_account', 'session', 'jti']);

function cost(condition: CaptchaCondition): number {
  if ('fields' in condition) return captchaFields.length;
  return manyValued.has(condition.field) ? 1 : 0;
}

/** `since` and `until` are epoch milliseconds, `until` exclusive. */
export function captchaSearch(
  conditions: readonly CaptchaCondition[],
  { since, until }: { since: number; until: number },
): SegmentSearch {
  const sorted = cheapestFirst(conditions);
  const byColumn = sorted.filter((condition) => !('fields' in condition) && !keyOf(condition).some(tellsRows));
  const byAny = sorted.filter((condition) => 'fields' in condition);
  return {
    since,
    until,
    keys: sorted.flatMap(keyOf),
    path: null,
    all: byColumn.flatMap(fieldTests),
    any: byAny.map(fieldTests),
  };
}

type Key = SegmentSearch['keys'][number];

/** The key that captchas with this value have. */
function keyOf(condition: CaptchaCondition): Key[] {
  if (!('is' in condition) || typeof condition.is !== 'string') return [];
  const { field, is: text } = condition;
  return field === 'ip' || field === 'user_account' ? [{ field, texts: [text] }] : [];
}

function tellsRows({ texts }: Key): boolean {
  return texts.every(isToldApart);
}
