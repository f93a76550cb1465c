/** Differences as the API lists them, with the conditions as text. */
import { printExpression } from '../../../policies/text/print.ts';
import type { Expression } from '../../../policies/expression.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import type { Difference } from './difference-lines.ts';

type Sent = ResponseOf<'/protect/policies/diff'>['differences'];

export function readDifferences(differences: Sent): Readonly<Record<string, readonly Difference[]>> {
  const policies = differences.policies.map((one) => ({
    ...one,
    before: one.before && withText(one.before),
    after: one.after && withText(one.after),
  }));
  return { ...differences, policies };
}

/** The API's description of a tree has less in it than a tree. */
function withText<Policy extends { when: unknown }>(policy: Policy): Policy & { when: string } {
  return { ...policy, when: printExpression(policy.when as Expression) };
}
