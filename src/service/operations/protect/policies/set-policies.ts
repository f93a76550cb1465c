/** `POST /protect/policies/set`: replaces all policies, all limits, all origins, or several of them, in one version. */
import * as z from 'zod/mini';
import { limitsField, originsField, policiesField } from '../../../../contract/management/policy-set/policy-api.ts';
import { operation } from '../../define-operation.ts';
import { proposedOver, readPolicySet } from './read-set.ts';
import { SET_BODY_MAX_BYTES, writeFields, writeResponse, writeSet } from './stored-set.ts';

export const setPolicies = operation({
  name: 'set-policies',
  method: 'POST',
  path: '/protect/policies/set',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Replace the policies, limits and origins of an instance',
  maxBodyBytes: SET_BODY_MAX_BYTES,
  body: z.strictObject({ ...writeFields, policies: policiesField, limits: limitsField, origins: originsField }),
  response: writeResponse,
  async handler({ body, ...context }) {
    return writeSet(context, body, (set) => readPolicySet(proposedOver(set, body)));
  },
});
