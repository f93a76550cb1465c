/** `POST /protect/policies/diff`: what changed from one version to another. */
import * as z from 'zod/mini';
import { diffPolicySets } from '../../../../policies/diff.ts';
import { operation } from '../../define-operation.ts';
import { siteKey } from '../access-rules/instance-rule-book.ts';
import { chosenInstance } from '../chosen-instance.ts';
import { setDifference, setOfVersion } from './stored-set.ts';

const version = z.int().check(z.gte(0));

export const diffPolicies = operation({
  name: 'diff-policies',
  method: 'POST',
  path: '/protect/policies/diff',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Compare two versions of the policies',
  body: z.strictObject({
    siteKey,
    from: version,
    /** Default: the current one. */
    to: z.optional(version),
  }),
  response: z.object({ from: z.int(), to: z.int(), differences: z.object(setDifference) }),
  async handler({ body, ...context }) {
    const instance = await chosenInstance(context, body.siteKey);
    const to = body.to ?? instance.policyVersion;
    const [before, after] = await Promise.all([
      setOfVersion(context, instance, body.from),
      setOfVersion(context, instance, to),
    ]);
    return { from: body.from, to, differences: diffPolicySets(before, after) };
  },
});
