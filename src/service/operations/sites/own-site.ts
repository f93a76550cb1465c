/** The sites of the caller's account. A site of another account does not exist for the caller: 404. */
import { siteByKey, siteKeysAmong, type SiteRecord } from '../../../store/d1/sites.ts';
import { OperationError } from '../operation-error.ts';
import type { OperationContext } from '../define-operation.ts';

/** A site of the caller's account, active or not. */
export async function ownSite(
  context: Pick<OperationContext<unknown>, 'store' | 'account'>,
  siteKey: string,
): Promise<SiteRecord> {
  const record = await siteByKey(context.store, siteKey);
  if (record?.accountId !== context.account.id) {
    throw new OperationError('GENERAL.SITE_KEY_NOT_FOUND', 'The account has no site with this key');
  }
  return record;
}

/** The given keys without duplicates; 404 with the first key that is not a site of the account, active or not. */
export async function ownSiteKeys(
  context: Pick<OperationContext<unknown>, 'store' | 'account'>,
  wanted: readonly string[],
): Promise<readonly string[]> {
  const known = new Set(await siteKeysAmong(context.store, context.account.id, wanted));
  for (const [index, siteKey] of wanted.entries()) {
    if (known.has(siteKey)) continue;
    throw new OperationError('GENERAL.SITE_KEY_NOT_FOUND', 'The account has no site with this key', [
      { path: wanted.length > 1 ? `siteKeys.${index}` : 'siteKey', message: 'is not a site of this account' },
    ]);
  }
  return [...known];
}
