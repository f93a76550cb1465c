/**
 * The condition of a policy: a tree of tests. It is checked in a loop and not by a schema that calls itself, so that input
 * of any depth is refused and overflows no stack.
 */
import * as z from 'zod/mini';
import { type PolicyField, policyFields, type PolicyOperator, policyOperators } from '../../vocabulary.ts';
import { testProblem } from './check-test.ts';
import { EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX } from './policy-fields.ts';

/** One comparison. `name` is the header's, the cookie's or the query parameter's. `exists` has no `value`. */
export interface PolicyTest {
  field: PolicyField;
  name?: string;
  operator: PolicyOperator;
  value?: string | number | string[] | number[];
}
export interface AndExpression {
  and: Expression[];
}
export interface OrExpression {
  or: Expression[];
}
export interface NotExpression {
  not: Expression;
}
export type Expression = AndExpression | OrExpression | NotExpression | PolicyTest;

export interface ExpressionProblem {
  /** Keys from the expression's root to the bad item. */
  path: (string | number)[];
  message: string;
}

interface Visit {
  value: unknown;
  depth: number;
  /** How this node hangs on its parent. Whole paths are written for problems only. */
  parent: Visit | null;
  step: readonly (string | number)[];
}

/** The first problem in reading order; `null` for a sound expression. */
export function expressionProblem(root: unknown): ExpressionProblem | null {
  const waiting: Visit[] = [{ value: root, depth: 1, parent: null, step: [] }];
  let nodes = 0;
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const problem = (message: string, ...last: (string | number)[]): ExpressionProblem => ({
      path: [...pathTo(visit), ...last],
      message,
    });
    const { value, depth } = visit;
    if (depth > EXPRESSION_DEPTH_MAX) return problem(`is nested deeper than ${EXPRESSION_DEPTH_MAX} levels`);
    if (++nodes > EXPRESSION_NODES_MAX) return problem(`has more than ${EXPRESSION_NODES_MAX} parts`);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return problem('must be an object');
    const keys = Object.keys(value);
    const group = keys.find((key) => key === 'and' || key === 'or' || key === 'not');
    if (group === undefined) {
      const bad = testProblem(value as Record<string, unknown>);
      if (bad) return problem(bad.message, ...bad.path);
      continue;
    }
    if (keys.length > 1) return problem(`must have no field beside "${group}"`);
    const inner = (value as Record<string, unknown>)[group];
    if (group === 'not') {
      waiting.push({ value: inner, depth: depth + 1, parent: visit, step: [group] });
      continue;
    }
    if (!Array.isArray(inner)) return problem('must be a list of expressions', group);
    if (inner.length === 0) return problem('must not be empty', group);
    if (nodes + inner.length > EXPRESSION_NODES_MAX)
      return problem(`has more than ${EXPRESSION_NODES_MAX} parts`, group);
    for (let index = inner.length - 1; index >= 0; index--) {
      waiting.push({ value: inner[index], depth: depth + 1, parent: visit, step: [group, index] });
    }
  }
  return null;
}

function pathTo(visit: Visit): (string | number)[] {
  const steps: (readonly (string | number)[])[] = [];
  for (let at: Visit | null = visit; at !== null; at = at.parent) steps.push(at.step);
  return steps.toReversed().flat();
}

/** For the API's description. What may stand where is checked above. */
const shape = z.looseObject({
  and: z.optional(z.array(z.unknown())),
  or: z.optional(z.array(z.unknown())),
  not: z.optional(z.unknown()),
  field: z.optional(z.enum(policyFields)),
  name: z.optional(z.string()),
  operator: z.optional(z.enum(policyOperators)),
  value: z.optional(z.union([z.string(), z.number(), z.array(z.string()), z.array(z.number())])),
});

const checked = z.transform((value: unknown, context) => {
  const problem = expressionProblem(value);
  if (problem) context.issues.push({ code: 'custom', input: value, ...problem });
  return value as z.input<typeof shape>;
});

export const expression = z.pipe(checked, shape) as unknown as z.ZodMiniType<Expression, Expression>;
