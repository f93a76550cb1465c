/**
 * The sites a traffic or audit call asks about, each the account's own, active or not (interface document 4.4, 4.5:
 * one that is not gives 404).
 */
import { siteKeysAmong } from '../../../store/d1/sites.ts';
import { ApiError } from '../operation.ts';
import type { OperationContext } from '../operation.ts';

export async function ownSiteKeys(
  context: Pick<OperationContext<unknown>, 'env' | 'account'>,
  wanted: readonly string[],
): Promise<readonly string[]> {
  const known = new Set(await siteKeysAmong(context.env, context.account.id, wanted));
  for (const [index, siteKey] of wanted.entries()) {
    if (known.has(siteKey)) continue;
    throw new ApiError('GENERAL.SITE_KEY_NOT_FOUND', 'The account has no site with this key', [
      { path: wanted.length > 1 ? `siteKeys.${index}` : 'siteKey', message: 'is not a site of this account' },
    ]);
  }
  return [...known];
}
