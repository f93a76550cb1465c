/** `POST /users/create`: adds a team member, with the status `invited`. */
import * as z from 'zod/mini';
import { createUser as insert } from '../../../store/d1/users.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { email, refuseOwner, role, user, userResponse, userName } from './user-response.ts';

export const createUser = operation({
  name: 'create-user',
  method: 'POST',
  path: '/users/create',
  feature: 'Users',
  permission: 'createUser',
  access: 'write',
  summary: 'Add a team member',
  body: z.strictObject({ email, name: userName, role }),
  response: user,
  async handler({ store, account, body, nowMs }) {
    refuseOwner(body.email, account);
    const created = await insert(store, account.id, body, nowMs);
    if (!created.ok) {
      throw new OperationError('PORTAL.USER_ALREADY_EXISTS', 'The account already has a user with this email', [
        { path: 'email', message: 'is taken' },
      ]);
    }
    return userResponse(created.value, account);
  },
});
