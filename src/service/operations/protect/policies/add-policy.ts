/** `POST /protect/policies/add`: one more policy, at the end of the list or before another one. */
import * as z from 'zod/mini';
import { policyItem } from '../../../../contract/management/policy-set/policy-api.ts';
import { policyName } from '../../../../contract/management/policy-set/policy.ts';
import { operation } from '../../define-operation.ts';
import { readSetWith } from './read-set.ts';
import { placeOf, writeFields, writeResponse, writeSet } from './stored-set.ts';

export const addPolicy = operation({
  name: 'add-policy',
  method: 'POST',
  path: '/protect/policies/add',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Add one policy',
  body: z.strictObject({
    ...writeFields,
    policy: policyItem,
    /** Name of the policy that it comes before. Without it, the new one is the last. */
    before: z.optional(policyName),
  }),
  response: writeResponse,
  async handler({ body, ...context }) {
    const { policy, before } = body;
    return writeSet(context, body, (set) => {
      const { policies } = set;
      const place = before === undefined ? policies.length : placeOf(policies, before);
      return readSetWith(
        { ...set, policies: policies.toSpliced(place, 0, policy as (typeof policies)[number]) },
        place,
      );
    });
  },
});
