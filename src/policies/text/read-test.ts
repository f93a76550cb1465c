/**
 * Reads one comparison of the text form: a field, its name in brackets, an operator and what it compares with. As other
 * languages have it, `==` is `equals`, `!=` its opposite, and `not` may stand before an operator.
 */
import { nameProblem, testProblem } from '../../contract/management/policy-set/check-test.ts';
import { policyFieldFacts } from '../../contract/management/policy-set/policy-fields.ts';
import { type PolicyField, policyFields, type PolicyOperator } from '../../contract/vocabulary.ts';
import { failed, ok, type Result } from '../../result.ts';
import { canonicalTest } from '../canonical.ts';
import type { Expression, PolicyTest } from '../expression.ts';
import { expected, type TextProblem, type Token, type Tokens } from './tokens.ts';

type Value = NonNullable<PolicyTest['value']>;

interface ReadValue {
  value: Value;
  offset: number;
  /** Where each value of a list is. */
  offsets: readonly number[];
}

export function isField(token: Token): boolean {
  return token.kind === 'word' && (policyFields as readonly string[]).includes(token.value);
}

/** From a token that is a field. */
export function readTest(tokens: Tokens): Result<Expression, TextProblem> {
  const field = tokens.take().value as PolicyField;
  const name = readName(tokens, field);
  if (!name.ok) return name;
  const { operators } = policyFieldFacts[field];
  const named = name.value === undefined ? {} : { name: name.value };
  const isNegated = isNot(tokens.next);
  if (isNegated) tokens.take();
  const isUnequal = !isNegated && tokens.skips('!=');
  const operator =
    isUnequal || tokens.skips('==')
      ? 'equals'
      : operators.find((one) => tokens.next.kind === 'word' && one === tokens.next.value && tokens.take());
  if (operator === undefined) return failed(expected(`one of ${operators.join(', ')}`, tokens.next));
  const test = comparison(tokens, { field, ...named, operator });
  return test.ok && (isNegated || isUnequal) ? ok({ not: test.value }) : test;
}

function comparison(tokens: Tokens, { field, name, operator }: PolicyTest): Result<PolicyTest, TextProblem> {
  const named = name === undefined ? {} : { name };
  if (operator === 'exists') return canonicalAt({ field, ...named, operator }, null);
  const read = isList(operator) ? readList(tokens) : readOne(tokens);
  if (!read.ok) return read;
  const test: PolicyTest = { field, ...named, operator, value: read.value.value };
  const problem = testProblem({ ...test });
  return problem ? failed(placed(problem, read.value)) : canonicalAt(test, read.value);
}

/** Before a condition, or before its operator. */
export function isNot({ kind, value }: Token): boolean {
  return kind === 'word' && value === 'not';
}

function isList(operator: PolicyOperator): boolean {
  return operator === 'in' || operator === 'ipIn';
}

function readName(tokens: Tokens, field: PolicyField): Result<string | undefined, TextProblem> {
  const { name: wanted } = policyFieldFacts[field];
  if (wanted === undefined) return ok(undefined);
  if (!tokens.skips('[')) {
    return wanted === 'required' ? failed(expected(`["name"] of the ${field}`, tokens.next)) : ok(undefined);
  }
  const token = tokens.take();
  if (token.kind !== 'text') return failed(expected('a name in quotes', token));
  const problem = nameProblem(field, token.value);
  if (problem !== null) return failed({ offset: token.offset, message: problem });
  return tokens.skips(']') ? ok(token.value) : failed(expected('"]"', tokens.next));
}

function readOne(tokens: Tokens): Result<ReadValue, TextProblem> {
  const value = readValue(tokens, 'a text in quotes or a number');
  return value.ok ? ok({ ...value.value, offsets: [] }) : value;
}

function readList(tokens: Tokens): Result<ReadValue, TextProblem> {
  const { offset } = tokens.next;
  if (!tokens.skips('[')) return failed(expected('a list in brackets', tokens.next));
  const values: { value: string | number; offset: number }[] = [];
  do {
    const value = readValue(tokens, 'a text in quotes or a number');
    if (!value.ok) return value;
    values.push(value.value);
  } while (tokens.skips(','));
  if (!tokens.skips(']')) return failed(expected('"," or "]"', tokens.next));
  const list = values.map(({ value }) => value) as string[] | number[];
  return ok({ value: list, offset, offsets: values.map((value) => value.offset) });
}

function readValue(tokens: Tokens, wanted: string): Result<{ value: string | number; offset: number }, TextProblem> {
  const token = tokens.take();
  const { kind, value, offset } = token;
  if (kind === 'text') return ok({ value, offset });
  return kind === 'number' ? ok({ value: Number(value), offset }) : failed(expected(wanted, token));
}

function canonicalAt(test: PolicyTest, read: ReadValue | null): Result<PolicyTest, TextProblem> {
  const canonical = canonicalTest(test);
  return canonical.ok || read === null
    ? (canonical as Result<PolicyTest, never>)
    : failed(placed(canonical.error, read));
}

/** What is wrong with a value, at that value. */
function placed(
  { path, message }: { path: readonly (string | number)[]; message: string },
  read: ReadValue,
): TextProblem {
  const index = path[1];
  return { offset: (typeof index === 'number' ? read.offsets[index] : undefined) ?? read.offset, message };
}
