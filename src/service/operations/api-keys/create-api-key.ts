/**
 * `POST /api-keys/create`. A key has at least one permission, only of features that the account has, and always an
 * expiry. A key may grant permissions that it does not have itself. So the permission `createApiKey` is as powerful as
 * all permissions of the account together.
 */
import * as z from 'zod/mini';
import {
  type Feature,
  featurePermissions,
  type Permission,
  type PermissionMap,
} from '../../../contract/management/permissions.ts';
import type { ErrorDetail } from '../../../contract/errors.ts';
import { createApiKey as insert } from '../../../store/d1/api-keys.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { apiKey, apiKeyResponse, permissionMap } from './api-key-response.ts';
import { rootKey } from '../../../store/keys/root-key.ts';

const DEFAULT_LIFE_SECONDS = 30 * 24 * 3600;
/** Ten years. */
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
    return apiKeyResponse(await rootKey(store), record);
  },
});

function checkedPermissions(wanted: PermissionMap, enabled: readonly Feature[]): PermissionMap {
  const granted: Partial<Record<Feature, Permission[]>> = {};
  const details: ErrorDetail[] = [];
  for (const [feature, list] of Object.entries(wanted) as [Feature, readonly Permission[]][]) {
    if (!enabled.includes(feature)) {
      details.push({ path: `permissions.${feature}`, message: 'is not a feature that is enabled on the account' });
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
