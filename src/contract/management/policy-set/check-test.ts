/** Checks one comparison of a policy's condition: its field, name, operator and value, and what they have to do with each other. */
import { type PolicyField, policyFields, type PolicyOperator, policyOperators } from '../../vocabulary.ts';
import {
  ASN_MAX,
  TEST_NAME_MAX_CHARS,
  TEST_TEXT_MAX_CHARS,
  TEST_VALUES_MAX,
  policyFieldFacts,
  wordsOf,
} from './policy-fields.ts';

export interface TestProblem {
  path: (string | number)[];
  message: string;
}

interface KnownTest {
  field: PolicyField;
  name: string | undefined;
  operator: PolicyOperator;
}

const KEYS = ['field', 'name', 'operator', 'value'];
/** RFC 9110 section 5.6.2: a header's name. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Everything that does not end a cookie's name in the `Cookie` header. */
const COOKIE_NAME = /^[!-+\--:<>-~]+$/;
/** Methods and countries are compared exactly, so that one in the wrong case would never match. */
const exactForms: Partial<Record<PolicyField, readonly [RegExp, string]>> = {
  method: [/^[A-Z]{1,16}$/, 'must be a method in capital letters, such as "POST"'],
  country: [/^(?:[A-Z]{2}|T1)$/, 'must be a country code in capital letters, such as "DE"'],
};

/** A path compared from its start begins as every path does. */
const fromStart: readonly PolicyOperator[] = ['equals', 'in', 'startsWith', 'matches'];

export function testProblem(test: Record<string, unknown>): TestProblem | null {
  const { field, name, operator, value } = test;
  const unknown = Object.keys(test).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return at('is not a known field', unknown.slice(0, TEST_NAME_MAX_CHARS));
  if (!isOneOf(policyFields, field)) return at(`must be one of ${policyFields.join(', ')}`, 'field');
  const nameMessage = nameProblem(field, name);
  if (nameMessage !== null) return at(nameMessage, 'name');
  const { operators } = policyFieldFacts[field];
  if (!isOneOf(policyOperators, operator) || !operators.includes(operator)) {
    return at(`must be one of ${operators.join(', ')} for ${field}`, 'operator');
  }
  if (operator === 'exists') return value === undefined ? null : at('must be absent: exists compares nothing', 'value');
  const known: KnownTest = { field, name: name as string | undefined, operator };
  if (operator !== 'in' && operator !== 'ipIn') {
    const message = valueProblem(known, value);
    return message === null ? null : at(message, 'value');
  }
  if (!Array.isArray(value) || value.length === 0) return at('must be a list with at least one value', 'value');
  if (value.length > TEST_VALUES_MAX) return at(`must have at most ${TEST_VALUES_MAX} values`, 'value');
  for (const [index, one] of value.entries()) {
    const message = valueProblem(known, one);
    if (message !== null) return at(message, 'value', index);
  }
  return null;
}

function at(message: string, ...path: (string | number)[]): TestProblem {
  return { path, message };
}

function isOneOf<Word extends string>(words: readonly Word[], value: unknown): value is Word {
  return words.includes(value as Word);
}

/** `null`: nothing is wrong. */
export function nameProblem(field: PolicyField, name: unknown): string | null {
  const { name: wanted } = policyFieldFacts[field];
  if (wanted === undefined) return name === undefined ? null : `must be absent: ${field} has no name`;
  if (wanted !== 'required') {
    return name === undefined || isOneOf(wanted, name) ? null : `must be one of ${wanted.join(', ')}, or absent`;
  }
  if (typeof name !== 'string' || name === '') return `must name the ${field}`;
  if (name.length > TEST_NAME_MAX_CHARS) return `must have at most ${TEST_NAME_MAX_CHARS} characters`;
  if (field === 'header') return HEADER_NAME.test(name) ? null : 'must be the name of a header';
  if (field === 'cookie') return COOKIE_NAME.test(name) ? null : 'must be the name of a cookie';
  return name.isWellFormed() ? null : 'must be well-formed text';
}

function valueProblem({ field, name, operator }: KnownTest, value: unknown): string | null {
  if (policyFieldFacts[field].values === 'number') return numberProblem(field, value);
  if (typeof value !== 'string') return 'must be a text';
  if (value.length > TEST_TEXT_MAX_CHARS) return `must have at most ${TEST_TEXT_MAX_CHARS} characters`;
  if (!value.isWellFormed()) return 'must be well-formed text';
  if (field === 'path' && /[?#]/.test(value)) return 'must have no "?" or "#": a path has no query';
  if (field === 'path' && fromStart.includes(operator) && !/^[/*]/.test(value)) return 'must begin with "/"';
  const isWhole = operator === 'equals' || operator === 'in';
  if (!isWhole) return value === '' ? 'must not be empty' : null;
  const words = wordsOf(field, name);
  if (words) return words.includes(value) ? null : `must be one of ${words.join(', ')}`;
  const form = exactForms[field];
  return form === undefined || form[0].test(value) ? null : form[1];
}

function numberProblem(field: PolicyField, value: unknown): string | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (field === 'riskScore') return value >= 0 && value <= 1 ? null : 'must be from 0 to 1';
  return Number.isInteger(value) && value >= 0 && value <= ASN_MAX ? null : `must be a whole number up to ${ASN_MAX}`;
}
