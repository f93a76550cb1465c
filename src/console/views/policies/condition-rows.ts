/**
 * A condition as rows that people click: tests that all or one of must hold, some of them in groups. Rows are written as
 * text and read from it, and the text alone is kept. What groups inside groups say stays text.
 */
import { policyFieldFacts, wordsOf } from '../../../contract/management/policy-set/policy-fields.ts';
import type { PolicyField, PolicyOperator } from '../../../contract/vocabulary.ts';
import { type Expression, isAnd, isNot, isOr, type PolicyTest } from '../../../policies/expression.ts';
import { parseExpression } from '../../../policies/text/parse.ts';
import { printExpression } from '../../../policies/text/print.ts';
import { filledLines } from '../../settings/setting-schema.ts';

type Joint = 'and' | 'or';

export interface Row {
  field: PolicyField;
  /** Of a header, for example. Empty: none. */
  name: string;
  isNot: boolean;
  operator: PolicyOperator;
  /** Of a list, one in each line. */
  value: string;
}

/** Rows that belong together. Mostly it is one. */
export interface RowGroup {
  isNot: boolean;
  joint: Joint;
  rows: readonly Row[];
}

export interface ConditionRows {
  joint: Joint;
  groups: readonly RowGroup[];
}

export const newRow: Row = { field: 'path', name: '', isNot: false, operator: 'startsWith', value: '' };

export function groupOf(row: Row): RowGroup {
  return { isNot: false, joint: 'or', rows: [row] };
}

/** `null`: the text is no condition, or rows cannot show it. */
export function rowsOfText(text: string): ConditionRows | null {
  if (text.trim() === '') return { joint: 'and', groups: [groupOf(newRow)] };
  const parsed = parseExpression(text);
  return parsed.ok ? rowsOf(parsed.value) : null;
}

function rowsOf(expression: Expression): ConditionRows | null {
  const groups = membersOf(expression).map(groupFrom);
  const joint = isOr(expression) ? 'or' : 'and';
  return groups.includes(null) ? null : { joint, groups: groups as RowGroup[] };
}

function membersOf(expression: Expression): readonly Expression[] {
  return isAnd(expression) ? expression.and : isOr(expression) ? expression.or : [expression];
}

function groupFrom(expression: Expression): RowGroup | null {
  const inner = isNot(expression) ? expression.not : expression;
  if (!isAnd(inner) && !isOr(inner)) {
    const row = rowFrom(expression);
    return row && groupOf(row);
  }
  const rows = membersOf(inner).map(rowFrom);
  const joint = isOr(inner) ? 'or' : 'and';
  return rows.includes(null) ? null : { isNot: isNot(expression), joint, rows: rows as Row[] };
}

function rowFrom(expression: Expression): Row | null {
  const test = isNot(expression) ? expression.not : expression;
  if (isAnd(test) || isOr(test) || isNot(test)) return null;
  const { field, name = '', operator, value = '' } = test;
  const texts = [value].flat().map(String);
  // A field of one line has no other, and a line of a list is read as people type it.
  const isShown = isList(operator) ? texts.every((one) => typedValues(field, one)[0] === one) : true;
  if (!isShown || texts.some((one) => /[\r\n]/.test(one))) return null;
  return { field, name, isNot: isNot(expression), operator, value: texts.join('\n') };
}

/** What a form says so far. The parser says what is wrong with it. */
export function textOfRows({ joint, groups }: ConditionRows): string {
  if (groups.length === 0) return '';
  return printExpression(
    joined(
      joint,
      groups.map((group) =>
        negatedIf(group.isNot && group.rows.length > 1, joined(group.joint, group.rows.map(testOf))),
      ),
    ),
  );
}

/** What is wrong with a row; `null`: nothing, or something is still to be filled in. */
export function rowProblem(row: Row): string | null {
  const isNameless = policyFieldFacts[row.field].name === 'required' && row.name === '';
  if (isNameless || row.value.trim() === '') return null;
  const parsed = parseExpression(printExpression(testOf(row)));
  return parsed.ok ? null : parsed.error.message;
}

function joined(joint: Joint, parts: readonly Expression[]): Expression {
  const all = [...parts];
  return all.length === 1 ? all[0]! : joint === 'and' ? { and: all } : { or: all };
}

function negatedIf(isNegated: boolean, expression: Expression): Expression {
  return isNegated ? { not: expression } : expression;
}

function testOf({ field, name, isNot: isNegated, operator, value }: Row): Expression {
  const isNamed = name !== '' || policyFieldFacts[field].name === 'required';
  const test = { field, ...(isNamed ? { name } : {}), operator };
  const isWhole = operator === 'equals' || operator === 'in';
  const read = (one: string) => valueOf(field, isWhole && inCapitals.includes(field) ? one.toUpperCase() : one);
  const given = isList(operator) ? typedValues(field, value).map(read) : read(value);
  const whole = operator === 'exists' ? test : { ...test, value: given };
  // It may not be sound yet.
  return negatedIf(isNegated, whole as PolicyTest);
}

function valueOf(field: PolicyField, text: string): string | number {
  const isNumber = policyFieldFacts[field].values === 'number' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(text);
  return isNumber ? Number(text) : text;
}

/** Their values have no space and no comma, so several can stand in one line. */
const inOneLine: readonly PolicyField[] = ['host', 'method', 'ip', 'asn', 'country', 'ja4'];
const inCapitals: readonly PolicyField[] = ['method', 'country'];

/** The values of a list as people type them: one in each line, or `NL, DE`. */
function typedValues(field: PolicyField, text: string): string[] {
  return filledLines(takesOneLine(field) ? text.replace(/[\s,;]+/g, '\n') : text);
}

export function takesOneLine(field: PolicyField): boolean {
  return inOneLine.includes(field);
}

export function isList(operator: PolicyOperator): boolean {
  return operator === 'in' || operator === 'ipIn';
}

/** A row after a change: what does not fit the new field or operator becomes what does. */
export function changedRow(row: Row, change: Partial<Row>): Row {
  const next = { ...row, ...change };
  const facts = policyFieldFacts[next.field];
  if (next.field !== row.field) next.name = '';
  if (!facts.operators.includes(next.operator)) next.operator = 'equals';
  if (next.operator === 'exists') next.value = '';
  else if (!isList(next.operator) && isList(row.operator)) next.value = typedValues(next.field, next.value)[0] ?? '';
  const words = wordsOf(next.field, next.name === '' ? undefined : next.name);
  if (words === undefined || (next.operator !== 'equals' && next.operator !== 'in')) return next;
  const known = filledLines(next.value).filter((value) => words.includes(value));
  return { ...next, value: known.length > 0 ? known.join('\n') : next.operator === 'equals' ? words[0]! : '' };
}
