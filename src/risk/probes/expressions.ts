/** Short names to write questions with. */
import { type ProbeExpression, probeOperations } from '../../contract/edge/probes.ts';

export const realm = (name: string): ProbeExpression => ['realm', name];
export const page = (name: string): ProbeExpression => ['page', name];
export const get = (target: ProbeExpression, key: string | number): ProbeExpression => ['get', target, key];
export const call = (target: ProbeExpression, key: string, ...values: ProbeExpression[]): ProbeExpression => [
  'call',
  target,
  key,
  ...values,
];
export const construct = (name: string, ...values: ProbeExpression[]): ProbeExpression => [
  'new',
  realm(name),
  ...values,
];
export const list = (...values: ProbeExpression[]): ProbeExpression => ['list', ...values];
/** A function with this body. */
export const body = (expression: ProbeExpression): ProbeExpression => ['function', expression];
export const argument = (place: number): ProbeExpression => ['argument', place];
/** An object or a list, as JSON. */
export const parsed = (value: unknown): ProbeExpression => call(realm('JSON'), 'parse', JSON.stringify(value));

/** With numbers in place of names, as the page gets it: `operations[number]` is the place of the operation. */
export function numbered(expression: ProbeExpression, operations: readonly number[]): ProbeExpression<number> {
  if (typeof expression !== 'object' || expression === null) return expression;
  const [name, ...parts] = expression;
  return [operations.indexOf(probeOperations.indexOf(name)), ...parts.map((part) => numbered(part, operations))];
}
