/**
 * Which API key calls, and whether it may. The order of the checks is part of the API: token, signature, key, expiry,
 * account, API feature, endpoint feature, permission, payment. All of it is read from D1 at every request, so that a
 * deleted key or a changed account counts from the next call on. Nothing else is read before it passes.
 */
import { permissionsFor } from '../../contract/management/permissions.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { principalOf, readApiKeyToken } from '../../store/d1/api-keys.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import { bearerToken } from '../http/bearer-token.ts';
import { RateLimit } from '../http/rate-limit.ts';
import type { ServiceCall } from '../http/service-call.ts';
import type { CredentialError, RateLimitError } from '../http/service-error.ts';
import type { Account, ApiKeyPrincipal, Operation } from './define-operation.ts';

/** Per minute and key, in one isolate. One key must not slow the account's database down for everyone else. */
const CALLS_PER_MINUTE_MAX = 12_000;
const keyRateLimit = new RateLimit(CALLS_PER_MINUTE_MAX, 'Too many calls with this API key');

export interface Caller {
  account: Account;
  apiKey: ApiKeyPrincipal;
}

export async function authorise(
  { store, request, nowMs }: Pick<ServiceCall, 'store' | 'request' | 'nowMs'>,
  { feature, permission, access }: Pick<Operation, 'feature' | 'permission' | 'access'>,
): Promise<Result<Caller, CredentialError | RateLimitError>> {
  const token = bearerToken(request);
  if (!token.ok) return token;
  const claims = await readApiKeyToken(await rootKey(store), token.value);
  if (!claims.ok) return failed({ kind: `api-key-${claims.error}` });
  const limited = keyRateLimit.take(claims.value.keyId, nowMs);
  if (limited !== null) return failed(limited);

  const { apiKey, account } = await principalOf(store, claims.value.accountId, claims.value.keyId);
  if (!apiKey) return failed({ kind: 'api-key-deleted' });
  if (nowMs >= apiKey.expiresAt) return failed({ kind: 'api-key-expired' });
  if (!account) return failed({ kind: 'account-not-found' });
  if (account.disabled) return failed({ kind: 'account-disabled' });
  if (!account.features.includes('API')) return failed({ kind: 'feature-not-enabled', feature: 'API' });
  if (!account.features.includes(feature)) return failed({ kind: 'feature-not-enabled', feature });
  const held = apiKey.permissions[feature];
  if (!permissionsFor({ feature, permission, access }).some((one) => held?.includes(one)))
    return failed({ kind: 'permission-missing' });
  if (access === 'write' && account.paymentOwed) return failed({ kind: 'payment-required' });
  return ok({ account, apiKey: { id: apiKey.id, name: apiKey.name, permissions: apiKey.permissions } });
}
