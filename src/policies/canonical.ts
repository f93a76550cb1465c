/**
 * One form for equal conditions: addresses, hosts and names of headers in one spelling, no value twice, no group inside a
 * group of its kind, keys in one order. What is stored, compared, counted in bytes and printed is this form.
 */
import type { Origin } from '../contract/management/policy-set/origin.ts';
import type { PolicySet } from '../contract/management/policy-set/policy-set.ts';
import type { Policy } from '../contract/management/policy-set/policy.ts';
import { canonicalIp, formatCidr, parseNetwork } from '../address/ip.ts';
import { failed, ok, type Result } from '../result.ts';
import { type Expression, isAnd, isNot, isOr, type PolicyTest } from './expression.ts';

export interface FieldProblem {
  /** Keys from the root to the bad item. */
  path: (string | number)[];
  message: string;
}

/** Fails only where a text is no address, which the schema does not know. */
export function canonicalPolicySet({ policies, limits, origins }: PolicySet): Result<PolicySet, FieldProblem> {
  const canonical: Policy[] = [];
  for (const [index, { name, description, when, then, mode }] of policies.entries()) {
    const condition = canonicalExpression(when);
    if (!condition.ok) return inside(condition.error, 'policies', index, 'when');
    canonical.push({ name, ...(description === undefined ? {} : { description }), when: condition.value, then, mode });
  }
  return ok({ policies: canonical, limits, origins: canonicalOrigins(origins) });
}

/** In the order of their names. An address has no slash at its end, because the path of a request follows it. */
function canonicalOrigins(origins: PolicySet['origins']): PolicySet['origins'] {
  const names = Object.keys(origins).toSorted();
  return Object.fromEntries(names.map((name) => [name, canonicalOrigin(origins[name]!)]));
}

function canonicalOrigin(origin: Origin): Origin {
  const hosts = origin.hosts.map((host) => host.toLowerCase());
  if (origin.kind === 'zone') return { kind: origin.kind, hosts };
  if (origin.kind === 'binding') return { kind: origin.kind, binding: origin.binding, hosts };
  return { kind: origin.kind, url: new URL(origin.url).href.replace(/\/+$/, ''), hosts };
}

/** Of a checked expression. */
export function canonicalExpression(expression: Expression): Result<Expression, FieldProblem> {
  if (isNot(expression)) {
    const inner = canonicalExpression(expression.not);
    return inner.ok ? ok({ not: inner.value }) : inside(inner.error, 'not');
  }
  const kind = isAnd(expression) ? 'and' : isOr(expression) ? 'or' : null;
  if (kind === null) return canonicalTest(expression as PolicyTest);
  const parts: Expression[] = [];
  for (const [index, part] of membersOf(expression, kind).entries()) {
    const inner = canonicalExpression(part);
    if (!inner.ok) return inside(inner.error, kind, index);
    parts.push(inner.value);
  }
  return ok(grouped(kind, parts));
}

/** Canonical parts as one expression. */
export function grouped(kind: 'and' | 'or', parts: readonly Expression[]): Expression {
  const flat = parts.flatMap((part) => (kind in part ? membersOf(part, kind) : [part]));
  return flat.length === 1 ? flat[0]! : kind === 'and' ? { and: flat } : { or: flat };
}

function membersOf(expression: Expression, kind: 'and' | 'or'): Expression[] {
  return (expression as Record<'and' | 'or', Expression[]>)[kind];
}

export function canonicalTest({ field, name, operator, value }: PolicyTest): Result<PolicyTest, FieldProblem> {
  const test: PolicyTest = {
    field,
    ...(name === undefined ? {} : { name: field === 'header' ? name.toLowerCase() : name }),
    operator,
  };
  if (value === undefined) return ok(test);
  if (!Array.isArray(value)) {
    const one = canonicalValue(test, value);
    return one === null ? noAddress(test, 'value') : ok({ ...test, value: one });
  }
  const values = new Set<string | number>();
  for (const [index, item] of value.entries()) {
    const one = canonicalValue(test, item);
    if (one === null) return noAddress(test, 'value', index);
    values.add(one);
  }
  return ok({ ...test, value: [...values] as string[] | number[] });
}

/** `null`: not an address where one must be. */
function canonicalValue({ field, operator }: PolicyTest, value: string | number): string | number | null {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (field === 'ip') return operator === 'ipIn' ? canonicalNetwork(value) : canonicalIp(value);
  return field === 'host' || field === 'ja4' ? value.toLowerCase() : value;
}

/** A single address is the network of that address. */
function canonicalNetwork(text: string): string | null {
  const network = parseNetwork(text);
  return network && formatCidr(network);
}

function noAddress({ operator }: PolicyTest, ...path: (string | number)[]): Result<never, FieldProblem> {
  const wanted = operator === 'ipIn' ? 'a network, such as 192.0.2.0/24' : 'an address, such as 192.0.2.1';
  return failed({ path, message: `must be ${wanted}` });
}

function inside({ path, message }: FieldProblem, ...steps: (string | number)[]): Result<never, FieldProblem> {
  return failed({ path: [...steps, ...path], message });
}
