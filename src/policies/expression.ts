/**
 * The condition of a policy as the engine sees it. It was checked when it was stored
 * (`contract/management/policy-set/expression.ts`), so functions that walk it may call themselves: it has 32 levels at
 * most.
 */
import type {
  AndExpression,
  Expression,
  NotExpression,
  OrExpression,
  PolicyTest,
} from '../contract/management/policy-set/expression.ts';

export type { Expression, PolicyTest };

export function isAnd(expression: Expression): expression is AndExpression {
  return 'and' in expression;
}

export function isOr(expression: Expression): expression is OrExpression {
  return 'or' in expression;
}

export function isNot(expression: Expression): expression is NotExpression {
  return 'not' in expression;
}
