/**
 * An API key as the management API returns it, with its token. The token is derived from the key, so it is the same
 * every time.
 */
import * as z from 'zod/mini';
import { featurePermissions, features, type Permission } from '../../../contract/management/permissions.ts';
import { type ApiKeyRecord, apiKeyToken } from '../../../store/d1/api-keys.ts';

const permissionNames = features.flatMap((feature) => featurePermissions[feature] as readonly Permission[]);

/** Feature names to permission names. The operation checks which permission belongs to which feature. */
export const permissionMap = z.partialRecord(
  z.enum(features),
  z.array(z.enum(permissionNames)).check(z.maxLength(permissionNames.length)),
);

export const apiKey = z.object({
  apiKeyId: z.string(),
  name: z.string(),
  permissions: permissionMap,
  token: z.string(),
  createdAt: z.int(),
  expiresAt: z.int(),
});

export async function apiKeyResponse(masterKey: string, record: ApiKeyRecord): Promise<z.infer<typeof apiKey>> {
  return {
    apiKeyId: record.id,
    name: record.name,
    permissions: record.permissions as z.infer<typeof permissionMap>,
    token: await apiKeyToken(masterKey, { accountId: record.accountId, id: record.id }),
    createdAt: record.createdAt,
    expiresAt: record.expiresAt,
  };
}
