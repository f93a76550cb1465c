/** A site as the management API returns it (interface document 2.3), its secret key included. */
import type { Site } from '../../../contract/management/site.ts';
import { siteByKey } from '../../../store/d1/sites.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import { ApiError } from '../operation.ts';
import type { OperationContext } from '../operation.ts';

export function siteAnswer(record: SiteRecord): Site {
  const { name, siteKey, secretKey, settings, active, isDefault, createdAt, updatedAt } = record;
  return { name, siteKey, secretKey, settings, active, isDefault, createdAt, updatedAt };
}

/** The caller's own site, active or not; anybody else's does not exist. */
export async function ownSite(
  context: Pick<OperationContext<unknown>, 'env' | 'account'>,
  siteKey: string,
): Promise<SiteRecord> {
  const record = await siteByKey(context.env, siteKey);
  if (record?.accountId !== context.account.id) {
    throw new ApiError('GENERAL.SITE_KEY_NOT_FOUND', 'The account has no site with this key');
  }
  return record;
}

export function duplicateName(): ApiError {
  return new ApiError('PORTAL.DUPLICATE_SITE_NAME', 'A site of this account already has this name', [
    { path: 'name', message: 'is taken' },
  ]);
}
