/**
 * Team members of an account. The owner is one of them and cannot be created, changed or removed through the API. Times
 * are epoch milliseconds.
 */
import * as z from 'zod/mini';
import { emailAddress } from '../../contract/management/email-address.ts';
import { userRoles } from '../../contract/management/permissions.ts';
import { normaliseEmail } from '../../store/d1/accounts.ts';
import {
  createUser,
  deleteUser,
  type UserRecord,
  updateUser,
  userByEmail,
  usersOfAccount,
} from '../../store/d1/users.ts';
import { OperationError } from './operation-error.ts';
import { operation, type Account, type Operation } from './define-operation.ts';

const role = z.enum(userRoles);
const userName = z.string().check(z.trim(), z.minLength(1), z.maxLength(256));
const email = z.pipe(emailAddress, z.transform(normaliseEmail));

const user = z.object({
  email: z.string(),
  name: z.string(),
  role,
  status: z.enum(['active', 'invited']),
  isOwner: z.boolean(),
  marketingPreferences: z.unknown(),
  createdAt: z.int(),
  updatedAt: z.int(),
});

function userResponse(record: UserRecord, account: Account): z.infer<typeof user> {
  return { ...record, isOwner: record.email === account.ownerEmail };
}

/** The owner cannot be created, changed or removed through the API. */
function refuseOwner(address: string, account: Account): void {
  if (address !== account.ownerEmail) return;
  throw new OperationError('PORTAL.CANNOT_MODIFY_OWNER_USER', 'The account owner cannot be changed through the API', [
    { path: 'email', message: 'is the account owner' },
  ]);
}

function userNotFound(): OperationError {
  return new OperationError('API.NOT_FOUND', 'The account has no user with this email');
}

/** Preferences have no schema; they are stored as sent, up to this size. */
const PREFERENCES_MAX_CHARS = 4096;

export const userOperations: readonly Operation[] = [
  /** Every user of the account, with the owner marked. */
  operation({
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
  }),
  /** Adds a team member, with the status `invited`. */
  operation({
    name: 'create-user',
    path: '/users/create',
    feature: 'Users',
    permission: 'createUser',
    access: 'write',
    summary: 'Add a team member',
    body: z.strictObject({ email, name: userName, role }),
    response: user,
    async handler({ store, account, body, nowMs, changes }) {
      refuseOwner(body.email, account);
      const created = await createUser(store, account.id, body, nowMs);
      if (!created.ok) {
        throw new OperationError('PORTAL.USER_ALREADY_EXISTS', 'The account already has a user with this email', [
          { path: 'email', message: 'is taken' },
        ]);
      }
      const { name, email: address, role: given } = body;
      changes.note('person', [{ name, before: null, after: { email: address, role: given } }]);
      return userResponse(created.value, account);
    },
  }),
  /** Name, role and marketing preferences of a team member. */
  operation({
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
    async handler({ store, account, body, nowMs, changes }) {
      refuseOwner(body.email, account);
      const known = await userByEmail(store, account.id, body.email);
      const { name, userType, marketingPreferences } = body;
      const found = await updateUser(
        store,
        account.id,
        body.email,
        { name, role: userType, marketingPreferences },
        nowMs,
      );
      if (!found || known === null) throw userNotFound();
      const before = { name: known.name, role: known.role };
      const after = { name: name ?? known.name, role: userType ?? known.role };
      changes.note('person', [{ name: known.name, before, after }]);
      return { success: true };
    },
  }),
  /** Removes a team member, but neither the owner nor the last user. */
  operation({
    name: 'delete-user',
    path: '/users/delete',
    feature: 'Users',
    permission: 'deleteUser',
    access: 'write',
    summary: 'Remove a team member',
    body: z.strictObject({ email }),
    response: z.object({ success: z.literal(true), deletedUserEmail: z.string() }),
    async handler({ store, account, body, changes }) {
      // The owner is always a user, so the last remaining user is the owner.
      const users = await usersOfAccount(store, account.id);
      if (users.length === 1 && users[0]?.email === body.email) throw lastUser();
      refuseOwner(body.email, account);
      const outcome = await deleteUser(store, account.id, body.email);
      const name = users.find(({ email: address }) => address === body.email)?.name ?? body.email;
      if (outcome.ok) {
        changes.note('person', [{ name, before: {}, after: null }]);
        return { success: true, deletedUserEmail: body.email };
      }
      if (outcome.error === 'not-found') throw userNotFound();
      throw lastUser();
    },
  }),
];

function lastUser(): OperationError {
  return new OperationError('PORTAL.CANNOT_DELETE_LAST_USER', 'The last remaining user cannot be deleted');
}
