/**
 * Tests a condition of an audit search on the JSON text of a field. Unsealed rows and sealed columns hold the same
 * texts, so one test serves both. `contains` ignores letter case.
 */
import type { CaptchaCondition } from '../captcha-condition.ts';
import { captchaFields } from '../captcha-fields.ts';
import type { CaptchaField } from '../captcha-fields.ts';

/** The test of one field. It remembers its results per text. */
export interface FieldTest {
  field: CaptchaField;
  /** The text that passes, if only one can. */
  only: string | null;
  /** `false` is certain: no text of this dictionary passes. */
  mayPass(dictionary: string): boolean;
  passes(text: string): boolean;
}

/** At least one of the tests must pass. */
export function fieldTests(condition: CaptchaCondition): FieldTest[] {
  if ('fields' in condition) return condition.fields.map((field) => containing(field, condition.contains));
  const { field } = condition;
  if ('contains' in condition) return [containing(field, condition.contains)];
  if ('is' in condition) {
    const wanted = JSON.stringify(condition.is);
    const mayPass = (dictionary: string): boolean => dictionary.includes(wanted);
    return [{ field, only: wanted, mayPass, passes: (text) => text === wanted }];
  }
  const listed = 'has' in condition;
  const member = listed ? condition.has : condition.lacks;
  const passes = remembered((text) => (JSON.parse(text) as string[]).includes(member) === listed);
  return [{ field, only: null, mayPass: () => true, passes }];
}

function containing(field: CaptchaField, text: string): FieldTest {
  const wanted = text.toLowerCase();
  const escaped = JSON.stringify(wanted).slice(1, -1);
  const passes = remembered((json) => {
    // Booleans and null are not shown as text.
    if (/^[tfn]/.test(json)) return false;
    const value = JSON.parse(json) as string | number | string[];
    return [value].flat().some((one) => String(one).toLowerCase().includes(wanted));
  });
  return { field, only: null, mayPass: (dictionary) => dictionary.toLowerCase().includes(escaped), passes };
}

/** Distinct texts whose result one search remembers: most rows repeat a few. */
const REMEMBERED_MAX = 10_000;

function remembered(test: (text: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = test(text);
      if (known.size < REMEMBERED_MAX) known.set(text, result);
    }
    return result;
  };
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

/** Conditions on fields with few distinct values come first: they rule out the most rows at the lowest cost. */
export function cheapestFirst(conditions: readonly CaptchaCondition[]): CaptchaCondition[] {
  return [...conditions].sort((a, b) => cost(a) - cost(b));
}

const manyValued: ReadonlySet<CaptchaField> = new Set(['ip', 'user_agent', 'user_account', 'session', 'jti']);

function cost(condition: CaptchaCondition): number {
  if ('fields' in condition) return captchaFields.length;
  return manyValued.has(condition.field) ? 1 : 0;
}
