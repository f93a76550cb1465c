/** Turns conditions into functions. Equal tests become one, and are evaluated at most once for each reading of a request. */
import { type Expression, isAnd, isNot, isOr, type PolicyTest } from '../expression.ts';
import { compileTest, type Evaluate, NO, type Truth, YES } from './compile-test.ts';
import type { Reads } from './request-view.ts';
import { spelledValues } from './text-match.ts';

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
