/** A site as the management API returns it, with its secret key. */
import type { Site } from '../../../contract/management/site.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import { OperationError } from '../operation-error.ts';

export function siteResponse(record: SiteRecord): Site {
  const { name, siteKey, secretKey, settings, active, isDefault, createdAt, updatedAt } = record;
  return { name, siteKey, secretKey, settings, active, isDefault, createdAt, updatedAt };
}

export function duplicateName(): OperationError {
  return new OperationError('PORTAL.DUPLICATE_SITE_NAME', 'A site of this account already has this name', [
    { path: 'name', message: 'is taken' },
  ]);
}
