/**
 * Who calls, and whether they may (interface document 5 and 7). The order is the contract: token, signature, key,
 * expiry, account, API feature, endpoint feature, permission, payment. All of it is read from D1 on every
 * request, so a deleted key or a changed account counts from the next call on; nothing else is
 * read before it passes.
 */
import type { ErrorKey } from '../../contract/errors.ts';
import { principalOf, readApiKeyToken } from '../../store/d1/api-keys.ts';
import { RateLimit } from '../http/rate-limit.ts';
import { ApiError } from '../http/api-error.ts';
import type { Account, ApiKeyPrincipal, Operation } from './define-operation.ts';
import { bearerToken } from '../http/bearer-token.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import type { ServiceStore } from '../environment.ts';

/**
 * Per minute and key, in one isolate: far above any honest client, far below what would slow the
 * account's database down for everyone else.
 */
const CALLS_PER_MINUTE_MAX = 12_000;
const keyRateLimit = new RateLimit(CALLS_PER_MINUTE_MAX, 'Too many calls with this API key; wait a little');

export interface Caller {
  account: Account;
  apiKey: ApiKeyPrincipal;
}

const tokenMistakes = {
  malformed: 'The bearer token is not an API key',
  'bad-signature': 'The API key has a wrong signature',
} as const;

/** @throws ApiError 401 or 403. `now`: epoch milliseconds. */
export async function authorise(
  store: ServiceStore,
  request: Request,
  operation: Pick<Operation, 'feature' | 'permission' | 'access'>,
  nowMs: number,
): Promise<Caller> {
  const token = bearerToken(request);
  const claims = await readApiKeyToken(await rootKey(store), token);
  if (!claims.ok) throw new ApiError('API.UNAUTHORIZED', tokenMistakes[claims.error]);
  keyRateLimit.take(claims.value.keyId, nowMs);

  const { apiKey, account } = await principalOf(store, claims.value.accountId, claims.value.keyId);
  if (!apiKey) throw new ApiError('API.UNAUTHORIZED', 'The API key was deleted');
  if (nowMs >= apiKey.expiresAt) throw new ApiError('API.KEY_EXPIRED', 'The API key has expired');
  if (!account) throw new ApiError('GENERAL.ACCOUNT_NOT_FOUND', 'The account does not exist');

  const { feature, permission, access } = operation;
  const refusals: readonly [boolean, ErrorKey, string][] = [
    [account.disabled, 'API.ACCOUNT_DISABLED', 'The account is disabled'],
    [!account.features.includes('API'), 'API.FEATURE_NOT_ENABLED', 'The API is not enabled on this account'],
    [
      !account.features.includes(feature),
      'API.FEATURE_NOT_ENABLED',
      `The feature ${feature} is not enabled on this account`,
    ],
    [!apiKey.permissions[feature]?.includes(permission), 'API.INSUFFICIENT_PERMISSIONS', 'Insufficient permissions'],
    [
      access === 'write' && account.paymentOwed,
      'API.PAYMENT_REQUIRED',
      'The account owes a payment method; until then it is read-only',
    ],
  ];
  for (const [refused, key, message] of refusals) if (refused) throw new ApiError(key, message);
  return { account, apiKey: { id: apiKey.id, name: apiKey.name, permissions: apiKey.permissions } };
}
