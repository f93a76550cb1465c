/** Writes a condition in its text form, with as few parentheses as it needs. Equal conditions have equal texts. */
import { type Expression, isAnd, isNot, isOr, type PolicyTest } from '../expression.ts';

/** `expression` in canonical form. */
export function printExpression(expression: Expression): string {
  if (isOr(expression)) return expression.or.map(printExpression).join(' or ');
  if (isAnd(expression)) return expression.and.map((part) => enclosed(part, isOr(part))).join(' and ');
  if (isNot(expression)) return `not ${enclosed(expression.not, isOr(expression.not) || isAnd(expression.not))}`;
  return printTest(expression);
}

function enclosed(expression: Expression, isLooser: boolean): string {
  const text = printExpression(expression);
  return isLooser ? `(${text})` : text;
}

function printTest({ field, name, operator, value }: PolicyTest): string {
  const left = name === undefined ? field : `${field}[${quoted(name)}]`;
  if (value === undefined) return `${left} ${operator}`;
  const right = Array.isArray(value) ? `[${value.map(quoted).join(', ')}]` : quoted(value);
  return `${left} ${operator} ${right}`;
}

/** JSON leaves some control characters as they are, and nobody could see them. */
function quoted(value: string | number): string {
  return JSON.stringify(value).replace(/\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
