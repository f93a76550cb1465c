/** A site as the management API returns it, with its secret key for callers that may see it. */
import * as z from 'zod/mini';
import { type Site, site } from '../../../contract/management/site.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import type { Principal } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';

/** `secretKey` is left out for a caller with `readSites` alone. */
export const shownSite = z.extend(site, { secretKey: z.optional(z.string()) });

export function siteResponse(record: SiteRecord): Site {
  const { name, siteKey, secretKey, settings, active, isDefault, version, createdAt, updatedAt } = record;
  return { name, siteKey, secretKey, settings, active, isDefault, version, createdAt, updatedAt };
}

/** The secret verifies tokens in the name of the site, so a caller that only reads does not see it. */
export function siteShownTo(
  { permissions }: Principal,
  permission: 'getSite' | 'getSites',
  record: SiteRecord,
): z.infer<typeof shownSite> {
  const { secretKey, ...rest } = siteResponse(record);
  return permissions.Sites?.includes(permission) === true ? { ...rest, secretKey } : rest;
}

export function duplicateName(): OperationError {
  return new OperationError('PORTAL.DUPLICATE_SITE_NAME', 'A site of this account already has this name', [
    { path: 'name', message: 'is taken' },
  ]);
}
