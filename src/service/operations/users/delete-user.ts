/** `POST /users/delete`: removes a team member, but neither the owner nor the last user. */
import * as z from 'zod/mini';
import { deleteUser as remove } from '../../../store/d1/users.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { email, refuseOwner, userNotFound } from './user-response.ts';

export const deleteUser = operation({
  name: 'delete-user',
  method: 'POST',
  path: '/users/delete',
  feature: 'Users',
  permission: 'deleteUser',
  access: 'write',
  summary: 'Remove a team member',
  body: z.strictObject({ email }),
  response: z.object({ success: z.literal(true), deletedUserEmail: z.string() }),
  async handler({ store, account, body }) {
    refuseOwner(body.email, account);
    const outcome = await remove(store, account.id, body.email);
    if (outcome.ok) return { success: true, deletedUserEmail: body.email };
    if (outcome.error === 'not-found') throw userNotFound();
    throw new OperationError('PORTAL.CANNOT_DELETE_LAST_USER', 'The last remaining user cannot be deleted');
  },
});
