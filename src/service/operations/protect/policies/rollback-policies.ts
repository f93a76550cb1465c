/** `POST /protect/policies/rollback`: restores the policies and limits of an earlier version, as a new version. */
import * as z from 'zod/mini';
import { operation } from '../../define-operation.ts';
import { setOfVersion, writeFields, writeResponse, writeSet } from './stored-set.ts';

export const rollbackPolicies = operation({
  name: 'rollback-policies',
  method: 'POST',
  path: '/protect/policies/rollback',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Restore the policies of an earlier version',
  body: z.strictObject({ ...writeFields, version: z.int().check(z.gte(0)) }),
  response: writeResponse,
  async handler({ body, ...context }) {
    const { version } = body;
    return writeSet(context, body, (_, { instance }) => setOfVersion(context, instance, version), version);
  },
});
