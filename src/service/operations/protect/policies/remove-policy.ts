/** `POST /protect/policies/remove`: removes one policy. Limits stay, also those that no policy uses any more. */
import * as z from 'zod/mini';
import { policyName } from '../../../../contract/management/policy-set/policy.ts';
import { operation } from '../../define-operation.ts';
import { placeOf, writeFields, writeResponse, writeSet } from './stored-set.ts';

export const removePolicy = operation({
  name: 'remove-policy',
  method: 'POST',
  path: '/protect/policies/remove',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Remove one policy',
  body: z.strictObject({ ...writeFields, name: policyName }),
  response: writeResponse,
  async handler({ body, ...context }) {
    return writeSet(context, body, (set) => ({
      ...set,
      policies: set.policies.toSpliced(placeOf(set.policies, body.name), 1),
    }));
  },
});
