/**
 * The instance that a call is about: the one of its `siteKey`, or the account's active one. Where the account has
 * several, a read without `siteKey` is about the oldest of them, and its response says so. A write is refused, because
 * it would change the oldest, whichever was meant, unless its operation says that it means the oldest.
 */
import { activeInstances, type StoredInstance } from '../../../store/d1/instances.ts';
import type { OperationContext } from '../define-operation.ts';
import { NoActiveInstanceError, OperationError } from '../operation-error.ts';

/** How many instances a refusal lists. */
const LISTED_MAX = 100;
/** Of the instance that a response is about. */
const SITE_KEY_HEADER = 'X-Protect-Site-Key';

export type ChoosingContext = Pick<OperationContext<unknown>, 'store' | 'account' | 'access' | 'responseHeaders'>;

/** @throws NoActiveInstanceError */
export async function chosenInstance(
  { store, account, access, responseHeaders }: ChoosingContext,
  siteKey: string | undefined,
  ofSeveral: 'oldest' | 'none' = access === 'write' ? 'none' : 'oldest',
): Promise<StoredInstance> {
  const found = await activeInstances(store, account.id, { siteKey, limit: ofSeveral === 'none' ? LISTED_MAX : 1 });
  const [instance] = found;
  if (instance === undefined) throw new NoActiveInstanceError();
  if (found.length > 1) {
    const details = found.map(({ globalSiteKey, name, cname }) => ({
      path: 'siteKey',
      message: `${globalSiteKey}: ${name}, ${cname}`,
    }));
    throw new OperationError(
      'API.CONFLICT',
      'The account has several active instances. Send the siteKey of one',
      details,
    );
  }
  answeredBy({ responseHeaders }, instance);
  return instance;
}

/** Names the instance that the response is about. */
export function answeredBy(
  { responseHeaders }: Pick<ChoosingContext, 'responseHeaders'>,
  { globalSiteKey }: StoredInstance,
): void {
  responseHeaders.set(SITE_KEY_HEADER, globalSiteKey);
}
