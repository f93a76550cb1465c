/** `POST /protect/policies/update`: replaces one policy in its place. The new one may have another name. */
import * as z from 'zod/mini';
import { policyItem } from '../../../../contract/management/policy-set/policy-api.ts';
import { policyName } from '../../../../contract/management/policy-set/policy.ts';
import { operation } from '../../define-operation.ts';
import { readSetWith } from './read-set.ts';
import { placeOf, writeFields, writeResponse, writeSet } from './stored-set.ts';

export const updatePolicy = operation({
  name: 'update-policy',
  method: 'POST',
  path: '/protect/policies/update',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Replace one policy',
  body: z.strictObject({ ...writeFields, name: policyName, policy: policyItem }),
  response: writeResponse,
  async handler({ body, ...context }) {
    const { name, policy } = body;
    return writeSet(context, body, (set) => {
      const { policies } = set;
      const place = placeOf(policies, name);
      return readSetWith({ ...set, policies: policies.with(place, policy as (typeof policies)[number]) }, place);
    });
  },
});
