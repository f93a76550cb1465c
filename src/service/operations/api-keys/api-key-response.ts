/**
 * An API key on the wire (interface document 2.5), its token included: minted anew, the same every time. Times
 * are epoch milliseconds.
 */
import * as z from 'zod/mini';
import { featurePermissions, features } from '../../../contract/management/permissions.ts';
import type { Permission } from '../../../contract/management/permissions.ts';
import { apiKeyToken } from '../../../store/d1/api-keys.ts';
import type { ApiKeyRecord } from '../../../store/d1/api-keys.ts';

const permissionNames = features.flatMap((feature) => featurePermissions[feature] as readonly Permission[]);

/** Feature names to permission names; which permission belongs to which feature is checked beside it. */
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

export async function apiKeyAnswer(masterKey: string, record: ApiKeyRecord): Promise<z.infer<typeof apiKey>> {
  return {
    apiKeyId: record.id,
    name: record.name,
    permissions: record.permissions as z.infer<typeof permissionMap>,
    token: await apiKeyToken(masterKey, { accountId: record.accountId, id: record.id }),
    createdAt: record.createdAt,
    expiresAt: record.expiresAt,
  };
}
