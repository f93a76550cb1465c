/**
 * An instance as the management API returns it: its identity and every field of its policy, in camel case, with times
 * in epoch milliseconds. Create and update take the same fields.
 */
import * as z from 'zod/mini';
import { instanceSettings } from '../../../../contract/management/instance-settings.ts';
import { instanceIdentity, type ProtectInstance } from '../../../../contract/management/instance-identity.ts';
import { instanceById, type InstanceConflict, type StoredInstance } from '../../../../store/d1/instances.ts';
import { NoActiveInstanceError, OperationError } from '../../operation-error.ts';
import type { OperationContext } from '../../define-operation.ts';

export const instanceSchema = z.object({
  id: z.string(),
  active: z.boolean(),
  ...instanceIdentity.shape,
  ...instanceSettings.shape,
  clientJwtsRevokedBefore: z.nullable(z.int()),
  /** Rises with every change. An update with `ifVersion` of an older one is refused. */
  version: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
});

export const instanceId = z.string().check(z.minLength(1), z.maxLength(256));

export function instanceResponse(stored: StoredInstance): ProtectInstance {
  const { accountId: _accountId, policyVersion: _policyVersion, attack: _attack, ...instance } = stored;
  return instance;
}

/** An active instance of the caller's account. An instance of another account does not exist for the caller. */
export async function ownInstance(
  context: Pick<OperationContext<unknown>, 'store' | 'account'>,
  id: string,
): Promise<StoredInstance> {
  const instance = await instanceById(context.store, id);
  if (!instance?.active || instance.accountId !== context.account.id) throw new NoActiveInstanceError();
  return instance;
}

export function conflictError(conflict: InstanceConflict): OperationError {
  switch (conflict) {
    case 'cname-taken':
      return new OperationError('API.CONFLICT', 'An active instance of this account already has this cname', [
        { path: 'cname', message: 'is taken by an active instance' },
      ]);
    case 'site-key-taken':
      return new OperationError('API.CONFLICT', 'An active instance already has this global site key', [
        { path: 'globalSiteKey', message: 'is taken by an active instance' },
      ]);
    case 'site-inactive':
      return new OperationError('API.CONFLICT', 'The site was deactivated at the same time', [
        { path: 'globalSiteKey', message: 'is not an active site' },
      ]);
  }
}
