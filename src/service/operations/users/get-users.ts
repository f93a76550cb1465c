/** `GET /users/get`: every user of the account, with the owner marked. */
import * as z from 'zod/mini';
import { usersOfAccount } from '../../../store/d1/users.ts';
import { operation } from '../define-operation.ts';
import { user, userResponse } from './user-response.ts';

export const getUsers = operation({
  name: 'get-users',
  method: 'GET',
  path: '/users/get',
  feature: 'Users',
  permission: 'getUsers',
  access: 'read',
  summary: 'List team members',
  body: z.strictObject({}),
  response: z.array(user),
  async handler({ store, account }) {
    return (await usersOfAccount(store, account.id)).map((record) => userResponse(record, account));
  },
});
