/**
 * `POST /protect/instances/delete`: deactivates the instance. Its client JWTs stop working at once, and its cname and
 * site key are free again. Its access rules are deleted within seconds, its verdicts and sessions a minute later.
 */
import * as z from 'zod/mini';
import { deactivateInstance } from '../../../../store/d1/instances.ts';
import { operation } from '../../define-operation.ts';
import { instanceId, ownInstance } from './instance-response.ts';
import { retireInstance } from './retire-instance.ts';

export const deleteInstance = operation({
  name: 'delete-instance',
  method: 'POST',
  path: '/protect/instances/delete',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Delete a Protect instance',
  body: z.strictObject({ id: instanceId }),
  response: z.object({ success: z.literal(true), id: z.string() }),
  async handler(context) {
    const { id } = await ownInstance(context, context.body.id);
    await deactivateInstance(context.store, id, context.nowMs);
    await retireInstance(context, id);
    return { success: true, id };
  },
});
