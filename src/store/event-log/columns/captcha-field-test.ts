/** Conditions of an audit search as tests of JSON texts, and the texts of unsealed captchas. */
import type { CaptchaCondition } from '../captcha-condition.ts';
import { type CaptchaField, captchaFields } from '../captcha-fields.ts';
import { contains, type FieldTest as TestOf, has, is } from './field-test.ts';

export type FieldTest = TestOf<CaptchaField>;

/** At least one of the tests must pass. */
export function fieldTests(condition: CaptchaCondition): FieldTest[] {
  if ('fields' in condition) return condition.fields.map((field) => contains(field, condition.contains));
  const { field } = condition;
  if ('contains' in condition) return [contains(field, condition.contains)];
  if ('is' in condition) return [is(field, condition.is)];
  return ['has' in condition ? has(field, condition.has, true) : has(field, condition.lacks, false)];
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
export function passesAny(tests: readonly FieldTest[], body: string): boolean {
  if (tests.length > 1 && !tests[0]?.mayPass(body)) return false;
  return tests.some((test) => test.passes(fieldText(body, test.field)));
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
