/** `POST /users/delete`: removes a team member, but neither the owner nor the last user. */
import * as z from 'zod/mini';
import { deleteUser as remove, usersOfAccount } from '../../../store/d1/users.ts';
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
    // The owner is always a user, so the last remaining user is the owner.
    const users = await usersOfAccount(store, account.id);
    if (users.length === 1 && users[0]?.email === body.email) throw lastUser();
    refuseOwner(body.email, account);
    const outcome = await remove(store, account.id, body.email);
    if (outcome.ok) return { success: true, deletedUserEmail: body.email };
    if (outcome.error === 'not-found') throw userNotFound();
    throw lastUser();
  },
});

function lastUser(): OperationError {
  return new OperationError('PORTAL.CANNOT_DELETE_LAST_USER', 'The last remaining user cannot be deleted');
}
