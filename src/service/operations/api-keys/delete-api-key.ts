/** `POST /api-keys/delete`: the key is invalid from the next call on, even if it is the key of this call. */
import * as z from 'zod/mini';
import { deleteApiKey as remove } from '../../../store/d1/api-keys.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';

export const deleteApiKey = operation({
  name: 'delete-api-key',
  method: 'POST',
  path: '/api-keys/delete',
  feature: 'API',
  permission: 'deleteApiKey',
  access: 'write',
  summary: 'Delete an API key',
  body: z.strictObject({ apiKeyId: z.string().check(z.minLength(1), z.maxLength(256)) }),
  response: z.object({ success: z.literal(true) }),
  async handler({ store, account, body }) {
    if (!(await remove(store, account.id, body.apiKeyId))) {
      throw new OperationError('API.NOT_FOUND', 'The account has no API key with this id');
    }
    return { success: true };
  },
});
