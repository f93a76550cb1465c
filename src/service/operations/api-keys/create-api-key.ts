/**
 * `POST /api-keys/create` (interface document 2.5, 4.7, 5.7). At least one permission, only of features the account
 * has, and always an expiry. A key may grant what it does not hold (5.8: Protect's permission is granted
 * this way only), so `createApiKey` is as good as every permission of the account.
 */
import * as z from 'zod/mini';
import { featurePermissions } from '../../../contract/management/permissions.ts';
import type { Feature, Permission, PermissionMap } from '../../../contract/management/permissions.ts';
import type { ErrorDetail } from '../../../contract/errors.ts';
import { createApiKey as insert } from '../../../store/d1/api-keys.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { apiKey, apiKeyAnswer, permissionMap } from './api-key-response.ts';
import { rootKey } from '../../../store/keys/root-key.ts';

const DEFAULT_LIFE_SECONDS = 30 * 24 * 3600;
/** Ten years: "every key expires", and one that outlives its purpose should not. */
const LIFE_MAX_SECONDS = 10 * 365 * 24 * 3600;

export const createApiKey = operation({
  name: 'create-api-key',
  method: 'POST',
  path: '/api-keys/create',
  feature: 'API',
  permission: 'createApiKey',
  access: 'write',
  summary: 'Create an API key',
  body: z.strictObject({
    name: z.string().check(z.trim(), z.minLength(1), z.maxLength(256)),
    permissions: permissionMap,
    /** Seconds from now. */
    expiresIn: z._default(z.int().check(z.gte(1), z.lte(LIFE_MAX_SECONDS)), DEFAULT_LIFE_SECONDS),
  }),
  response: apiKey,
  async handler({ store, account, body, nowMs }) {
    const permissions = checkedPermissions(body.permissions, account.features);
    const record = await insert(
      store,
      { accountId: account.id, name: body.name, permissions, expiresInSeconds: body.expiresIn },
      nowMs,
    );
    return apiKeyAnswer(await rootKey(store), record);
  },
});

function checkedPermissions(wanted: PermissionMap, enabled: readonly Feature[]): PermissionMap {
  const granted: Partial<Record<Feature, Permission[]>> = {};
  const details: ErrorDetail[] = [];
  for (const [feature, list] of Object.entries(wanted) as [Feature, readonly Permission[]][]) {
    if (!enabled.includes(feature)) {
      details.push({ path: `permissions.${feature}`, message: 'is a feature that is not enabled on the account' });
    }
    const known: readonly Permission[] = featurePermissions[feature];
    for (const [index, permission] of list.entries()) {
      const path = `permissions.${feature}.${index}`;
      if (!known.includes(permission)) details.push({ path, message: `does not belong to the feature ${feature}` });
    }
    if (list.length > 0) granted[feature] = [...new Set(list)];
  }
  if (details.length > 0) throw new OperationError('API.INVALID_BODY', 'The permissions cannot be granted', details);
  if (Object.keys(granted).length === 0) {
    throw new OperationError('API.INVALID_BODY', 'A key needs at least one permission', [
      { path: 'permissions', message: 'must grant at least one permission' },
    ]);
  }
  return granted;
}
