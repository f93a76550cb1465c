/**
 * Turns tests, and expressions made of them, into functions of a request. They are compiled once for each config and
 * share what they read.
 */
import { canonicalIp, parseCidr } from '../../address/ip.ts';
import { PrefixMap } from '../../address/prefix-table.ts';
import type { PolicyField } from '../../contract/vocabulary.ts';
import { type Expression, isAnd, isNot, isOr, type PolicyTest } from '../expression.ts';
import type { PolicyRequest } from '../request.ts';
import { type NamedField, namedFields, placeOfName, type Reads, type RequestView } from './request-view.ts';
import { compileTextMatch, spelledValues } from './text-match.ts';

/** What is known of a condition. `and` is the least of its parts, `or` the greatest, `not` of `truth` is `YES - truth`. */
type Truth = 0 | 1 | 2;
export const NO = 0;
/** It depends on something that nobody knows. */
export const UNKNOWN = 1;
export const YES = 2;

export type Evaluate = (view: RequestView) => Truth;
/** `null` or an empty list: the request has none. */
export type Fact = string | number | null | readonly string[];

export function isNamed(field: PolicyField): field is NamedField {
  return (namedFields as readonly string[]).includes(field);
}

/** How to read a field that needs no parsing. `null`: it is another kind of field, or one of a newer release. */
export function factOf(field: PolicyField, name: string | undefined): ((view: RequestView) => Fact) | null {
  switch (field) {
    case 'userAgent':
      return (view) => view.userAgent || null;
    case 'ipCategory':
      return ({ request }) => request.ipCategories;
    case 'bot':
      if (name === 'behaviour') return ({ request }) => request.bot?.behaviours ?? null;
      return name === 'proof' ? ({ request }) => request.bot?.proof ?? null : ({ request }) => request.bot?.id ?? null;
    case 'host':
    case 'method':
    case 'ip':
    case 'asn':
    case 'country':
    case 'ja4':
    case 'deviceType':
    case 'agent':
    case 'sessionStatus':
    case 'riskScore':
    case 'pathType':
      return ({ request }) => request[field as keyof PolicyRequest & typeof field];
    default:
      return null;
  }
}

/** `null`: the test has a field or an operator of a newer release. */
function compileTest(test: PolicyTest, reads: Reads): Evaluate | null {
  const { field, name = '', operator } = test;
  if (isNamed(field)) return compileNamed(test, field, placeOfName(reads, field, name));
  if (field === 'path') return compilePathTest(test);
  if (field === 'ip' && operator === 'ipIn') return compileNetworks(test);
  const read = factOf(field, test.name);
  const matches = read && compileFactMatch(test);
  if (!matches) return null;
  return (view) => {
    const fact = read(view);
    if (fact === null) return NO;
    return (typeof fact === 'object' ? fact.some(matches) : matches(fact)) ? YES : NO;
  };
}

function compileFactMatch(test: PolicyTest): ((fact: string | number) => boolean) | null {
  const { field, operator, value } = test;
  if (operator === 'exists') return () => true;
  if (operator === 'greaterThan') return typeof value === 'number' ? (fact) => (fact as number) > value : null;
  if (field === 'asn' || field === 'riskScore') {
    const numbers = new Set<unknown>(Array.isArray(value) ? value : [value]);
    return operator === 'equals' || operator === 'in' ? (fact) => numbers.has(fact) : null;
  }
  const values = spelledValues(test);
  const spelled = field === 'ip' ? values.map((one) => canonicalIp(one) ?? '') : values;
  return compileTextMatch(test, spelled) as ((fact: string | number) => boolean) | null;
}

function compileNamed(test: PolicyTest, field: NamedField, place: number): Evaluate | null {
  const isPresence = test.operator === 'exists';
  const matches = isPresence ? null : compileTextMatch(test, spelledValues(test));
  if (matches === null && !isPresence) return null;
  return (view) => {
    const named = view.named(field);
    if (named === undefined) return UNKNOWN;
    const values = named.values[place];
    if (values === undefined) return NO;
    if (matches === null || values.some(matches)) return YES;
    return named.more?.has(place) ? UNKNOWN : NO;
  };
}

/** A path as it stands, or in lower case: then it is compared with values in lower case. */
export interface TestedPath {
  /** `undefined`: it could be any path. */
  path: string | undefined;
  isFolded: boolean;
}

export function compilePathTest(test: PolicyTest): ((reading: TestedPath) => Truth) | null {
  if (test.operator === 'exists') return () => YES;
  const values = spelledValues(test);
  const asWritten = compileTextMatch(test, values);
  const folded = compileTextMatch(
    test,
    values.map((value) => value.toLowerCase()),
  );
  if (asWritten === null || folded === null) return null;
  return ({ path, isFolded }) => {
    if (path === undefined) return UNKNOWN;
    return (isFolded ? folded : asWritten)(path) ? YES : NO;
  };
}

function compileNetworks({ value }: PolicyTest): Evaluate {
  const networks = new PrefixMap(
    (Array.isArray(value) ? value : []).flatMap((text) => {
      const network = parseCidr(String(text));
      return network ? [[network, true] as const] : [];
    }),
  );
  return (view) => (networks.around(view.family, view.address).length > 0 ? YES : NO);
}

/** Turns conditions into functions. Equal tests become one, and are evaluated at most once for each reading of a request. */
export class ExpressionCompiler {
  readonly #reads: Reads;
  readonly #tests = new Map<string, Evaluate | null>();

  /** Whether a path in lower case may fulfil other tests when it is compared with values in lower case. */
  hasCapitals = false;

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  /** `null`: something in it is of a newer release. */
  compile(expression: Expression): Evaluate | null {
    if (isAnd(expression)) return this.#group(expression.and, NO);
    if (isOr(expression)) return this.#group(expression.or, YES);
    if (!isNot(expression)) return this.#test(expression);
    const inner = this.compile(expression.not);
    return inner && ((view) => (YES - inner(view)) as Truth);
  }

  /** `and` ends at the first part that is not so, `or` at the first that is. */
  #group(expressions: readonly Expression[], end: typeof NO | typeof YES): Evaluate | null {
    const parts: Evaluate[] = [];
    for (const expression of expressions) {
      const part = this.compile(expression);
      if (part === null) return null;
      parts.push(part);
    }
    return (view) => {
      let result: Truth = end === NO ? YES : NO;
      for (const part of parts) {
        const truth = part(view);
        if (truth === end) return end;
        if (end === NO ? truth < result : truth > result) result = truth;
      }
      return result;
    };
  }

  #test(test: PolicyTest): Evaluate | null {
    const key = JSON.stringify(test);
    let known = this.#tests.get(key);
    if (known === undefined) {
      const evaluate = compileTest(test, this.#reads);
      if (test.field === 'path')
        this.hasCapitals ||= spelledValues(test).some((value) => value !== value.toLowerCase());
      known = evaluate && remembered(evaluate, test.field === 'path');
      this.#tests.set(key, known);
    }
    return known;
  }
}

/** Keeps the answer for the request, or for the reading of its path. */
function remembered(evaluate: Evaluate, isOfPath: boolean): Evaluate {
  let askedFor = 0;
  let truth: Truth = NO;
  return (view) => {
    const asking = isOfPath ? view.readingId : view.id;
    if (asking !== askedFor) {
      truth = evaluate(view);
      askedFor = asking;
    }
    return truth;
  };
}
