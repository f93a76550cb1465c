/** Makes a policy of a rule that was read, or says why there is none. */
import { expressionProblem } from '../../contract/management/policy-set/expression.ts';
import type { Policy, PolicyAction } from '../../contract/management/policy-set/policy.ts';
import { canonicalExpression, type FieldProblem } from '../canonical.ts';
import type { Expression } from '../expression.ts';
import { anyRequest, type Condition } from './condition.ts';
import { type ImportedRule, NotExpressible, type PolicyNames, shownSource } from './report.ts';
import type { DifferenceNotes } from './text-subject.ts';

interface RuleSource {
  place: string;
  /** Shown in the report. */
  source: string;
  /** Becomes the policy's name. */
  name: string;
  /** Where that has no letter or digit. */
  fallbackName: string;
  description?: string | undefined;
}

export interface ReadRule {
  when: Condition;
  then: PolicyAction;
  mode: Policy['mode'];
}

const DESCRIPTION_MAX_CHARS = 500;

export function takenRule(
  { place, source, name, fallbackName, description }: RuleSource,
  names: PolicyNames,
  read: (differences: DifferenceNotes) => ReadRule,
): ImportedRule {
  const differences: DifferenceNotes = new Set();
  try {
    const { when, then, mode } = read(differences);
    const expression = expressionOf(when);
    const policy: Policy = {
      name: names.next(name, fallbackName),
      ...(description ? { description: description.slice(0, DESCRIPTION_MAX_CHARS).toWellFormed() } : {}),
      when: expression,
      then,
      mode,
    };
    const outcome = differences.size === 0 ? 'taken' : 'taken-with-a-difference';
    return { place, source: shownSource(source), outcome, policy, differences: [...differences], reason: null };
  } catch (error) {
    if (!(error instanceof NotExpressible)) throw error;
    const reason = error.message;
    return { place, source: shownSource(source), outcome: 'not-expressible', policy: null, differences: [], reason };
  }
}

function expressionOf(condition: Condition): Expression {
  if (condition === false) throw new NotExpressible('no request fulfils this condition');
  const expression = condition === true ? anyRequest : condition;
  const problem = expressionProblem(expression);
  if (problem) throw new NotExpressible(inPolicy(problem));
  const canonical = canonicalExpression(expression);
  if (canonical.ok) return canonical.value;
  throw new NotExpressible(inPolicy(canonical.error));
}

/** The whole path of a problem is the policy's. The rule's author knows only its end. */
function inPolicy({ path, message }: FieldProblem): string {
  const field = path.findLast((step) => typeof step === 'string');
  return `in a policy, ${field === 'value' || field === 'name' ? `the ${field}` : 'the condition'} ${message}`;
}
