/**
 * Builds conditions while a rule of another product is read. `true` and `false` stand for parts that every request or
 * none fulfils, which the expression tree has no node for.
 */
import { TEST_VALUES_MAX } from '../../contract/management/policy-set/policy-fields.ts';
import type { PolicyField } from '../../contract/vocabulary.ts';
import type { Expression, PolicyTest } from '../expression.ts';

export type Condition = Expression | boolean;
/** A field, and its name where it has one. */
export type Subject = Pick<PolicyTest, 'field' | 'name'>;

/** Matches every request. */
export const anyRequest: Expression = { field: 'path', operator: 'startsWith', value: '/' };

export function all(parts: readonly Condition[]): Condition {
  if (parts.includes(false)) return false;
  const left = parts.filter((part): part is Expression => part !== true);
  return left.length < 2 ? (left[0] ?? true) : { and: left };
}

export function any(parts: readonly Condition[]): Condition {
  if (parts.includes(true)) return true;
  const left = parts.filter((part): part is Expression => part !== false);
  return left.length < 2 ? (left[0] ?? false) : { or: left };
}

export function negated(part: Condition): Condition {
  if (typeof part === 'boolean') return !part;
  return 'not' in part ? part.not : { not: part };
}

export function exists(subject: Subject): Condition {
  return { ...subject, operator: 'exists' };
}

export function equalsText(subject: Subject, value: string): Condition {
  return value === '' ? isEmpty(subject) : { ...subject, operator: 'equals', value };
}

/** Elsewhere, a text that is missing and an empty one are the same. */
export function isEmpty(subject: Subject): Condition {
  return any([negated(exists(subject)), { ...subject, operator: 'equals', value: '' }]);
}

/** One of these values, in as many tests as their number needs. */
export function oneOf(subject: Subject, operator: 'in' | 'ipIn', values: readonly (string | number)[]): Condition {
  if (operator === 'in' && values.length === 1) return { ...subject, operator: 'equals', value: values[0]! };
  const tests: Condition[] = [];
  for (let at = 0; at < values.length; at += TEST_VALUES_MAX) {
    const value = values.slice(at, at + TEST_VALUES_MAX) as string[] | number[];
    tests.push({ ...subject, operator, value });
  }
  return any(tests);
}

/** Of a number that may be unknown: neither side of the border holds then. */
export function atLeast(field: PolicyField, least: number): Condition {
  return least <= 0 ? exists({ field }) : { field, operator: 'greaterThan', value: least - 1 };
}

export function below(field: PolicyField, border: number): Condition {
  return all([exists({ field }), negated(atLeast(field, border))]);
}
