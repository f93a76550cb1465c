/** `PUT /users/update`: name, role and marketing preferences of a team member. */
import * as z from 'zod/mini';
import { updateUser as write } from '../../../store/d1/users.ts';
import { operation } from '../define-operation.ts';
import { email, refuseOwner, role, userName, userNotFound } from './user-response.ts';

/** Preferences have no schema; they are stored as sent, up to this size. */
const PREFERENCES_MAX_CHARS = 4096;

export const updateUser = operation({
  name: 'update-user',
  method: 'PUT',
  path: '/users/update',
  feature: 'Users',
  permission: 'updateUser',
  access: 'write',
  summary: 'Change a team member',
  body: z.strictObject({
    email,
    name: z.optional(userName),
    userType: z.optional(role),
    marketingPreferences: z.optional(
      z
        .unknown()
        .check(
          z.refine(
            (value) => value === undefined || JSON.stringify(value).length <= PREFERENCES_MAX_CHARS,
            `is longer than ${PREFERENCES_MAX_CHARS} characters`,
          ),
        ),
    ),
  }),
  response: z.object({ success: z.literal(true) }),
  async handler({ store, account, body, nowMs }) {
    refuseOwner(body.email, account);
    const { name, userType, marketingPreferences } = body;
    const found = await write(store, account.id, body.email, { name, role: userType, marketingPreferences }, nowMs);
    if (!found) throw userNotFound();
    return { success: true };
  },
});
