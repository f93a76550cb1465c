/** API keys of an account, with their tokens. A token is derived from its key, so it is the same every time. */
import * as z from 'zod/mini';
import {
  type Feature,
  featurePermissions,
  features,
  type Permission,
  type PermissionMap,
} from '../../contract/management/permissions.ts';
import {
  type ApiKeyRecord,
  apiKeysOfAccount,
  apiKeyToken,
  createApiKey,
  deleteApiKey,
} from '../../store/d1/api-keys.ts';
import { type Operation, operation } from './define-operation.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import type { ErrorDetail } from '../../contract/errors.ts';
import { OperationError } from './operation-error.ts';

const permissionNames = features.flatMap((feature) => featurePermissions[feature] as readonly Permission[]);

/** Feature names to permission names. The operation checks which permission belongs to which feature. */
const permissionMap = z.partialRecord(
  z.enum(features),
  z.array(z.enum(permissionNames)).check(z.maxLength(permissionNames.length)),
);

/**
 * An API key as the management API returns it, with its token. The token is derived from the key, so it is the same
 * every time.
 */
const apiKey = z.object({
  apiKeyId: z.string(),
  name: z.string(),
  permissions: permissionMap,
  token: z.string(),
  createdAt: z.int(),
  expiresAt: z.int(),
});

async function apiKeyResponse(masterKey: string, record: ApiKeyRecord): Promise<z.infer<typeof apiKey>> {
  return {
    apiKeyId: record.id,
    name: record.name,
    permissions: record.permissions as z.infer<typeof permissionMap>,
    token: await apiKeyToken(masterKey, { accountId: record.accountId, id: record.id }),
    createdAt: record.createdAt,
    expiresAt: record.expiresAt,
  };
}

const DEFAULT_LIFE_SECONDS = 30 * 24 * 3600;
/** Ten years. */
const LIFE_MAX_SECONDS = 10 * 365 * 24 * 3600;

export const apiKeyOperations: readonly Operation[] = [
  /** Every key of the account with its token, including expired ones. */
  operation({
    name: 'get-api-keys',
    path: '/api-keys/get',
    feature: 'API',
    permission: 'getApiKeys',
    access: 'read',
    summary: 'List API keys',
    body: z.strictObject({}),
    response: z.array(apiKey),
    async handler({ store, account }) {
      const records = await apiKeysOfAccount(store, account.id);
      const root = await rootKey(store);
      return Promise.all(records.map((record) => apiKeyResponse(root, record)));
    },
  }),
  /**
   * A key has at least one permission, only of features that the account has, and always an expiry. A key may grant
   * permissions that it does not have itself. So the permission `createApiKey` is as powerful as all permissions of the
   * account together.
   */
  operation({
    name: 'create-api-key',
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
    async handler({ store, account, body, nowMs, changes }) {
      const permissions = checkedPermissions(body.permissions, account.features);
      const record = await createApiKey(
        store,
        { accountId: account.id, name: body.name, permissions, expiresInSeconds: body.expiresIn },
        nowMs,
      );
      changes.note('API key', [
        { name: body.name, before: null, after: { permissions: Object.values(permissions).flat() } },
      ]);
      return apiKeyResponse(await rootKey(store), record);
    },
  }),
  /** The key is invalid from the next call on, even if it is the key of this call. */
  operation({
    name: 'delete-api-key',
    path: '/api-keys/delete',
    feature: 'API',
    permission: 'deleteApiKey',
    access: 'write',
    summary: 'Delete an API key',
    body: z.strictObject({ apiKeyId: z.string().check(z.minLength(1), z.maxLength(256)) }),
    response: z.object({ success: z.literal(true) }),
    async handler({ store, account, body, changes }) {
      const name = await deleteApiKey(store, account.id, body.apiKeyId);
      if (name === null) {
        throw new OperationError('API.NOT_FOUND', 'The account has no API key with this id');
      }
      changes.note('API key', [{ name, before: {}, after: null }]);
      return { success: true };
    },
  }),
];

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
