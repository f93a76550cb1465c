/** `POST /protect/policies/move`: gives one policy another place in the order. */
import * as z from 'zod/mini';
import { policyName } from '../../../../contract/management/policy-set/policy.ts';
import { operation } from '../../define-operation.ts';
import { placeOf, writeFields, writeResponse, writeSet } from './stored-set.ts';

export const movePolicy = operation({
  name: 'move-policy',
  method: 'POST',
  path: '/protect/policies/move',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Move one policy in the order',
  body: z.strictObject({
    ...writeFields,
    name: policyName,
    /** Name of the policy that it comes before. Without it, it becomes the last. */
    before: z.optional(policyName),
  }),
  response: writeResponse,
  async handler({ body, ...context }) {
    const { name, before } = body;
    return writeSet(context, body, (set) => {
      const { policies } = set;
      const place = placeOf(policies, name);
      if (before === name) return set;
      const others = policies.toSpliced(place, 1);
      const wanted = before === undefined ? others.length : placeOf(others, before);
      return { ...set, policies: others.toSpliced(wanted, 0, policies[place]!) };
    });
  },
});
