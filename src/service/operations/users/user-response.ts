/** A team member as the management API returns it, and the protection of the owner. Times are epoch milliseconds. */
import * as z from 'zod/mini';
import { emailAddress } from '../../../contract/management/email-address.ts';
import { userRoles } from '../../../contract/management/roles.ts';
import { normaliseEmail } from '../../../store/d1/accounts.ts';
import type { UserRecord } from '../../../store/d1/users.ts';
import { OperationError } from '../operation-error.ts';
import type { Account } from '../define-operation.ts';

export const role = z.enum(userRoles);
export const userName = z.string().check(z.trim(), z.minLength(1), z.maxLength(256));
export const email = z.pipe(emailAddress, z.transform(normaliseEmail));

export const user = z.object({
  email: z.string(),
  name: z.string(),
  role,
  status: z.enum(['active', 'invited']),
  isOwner: z.boolean(),
  marketingPreferences: z.unknown(),
  createdAt: z.int(),
  updatedAt: z.int(),
});

export function userResponse(record: UserRecord, account: Account): z.infer<typeof user> {
  return { ...record, isOwner: record.email === account.ownerEmail };
}

/** The owner cannot be created, changed or removed through the API. */
export function refuseOwner(address: string, account: Account): void {
  if (address !== account.ownerEmail) return;
  throw new OperationError('PORTAL.CANNOT_MODIFY_OWNER_USER', 'The account owner cannot be changed through the API', [
    { path: 'email', message: 'is the account owner' },
  ]);
}

export function userNotFound(): OperationError {
  return new OperationError('API.NOT_FOUND', 'The account has no user with this email');
}
