/**
 * Who calls, and whether they may. A call has an API key, or the cookie of a console session. The order of the checks is
 * part of the API: token, signature, key, expiry, account, API feature, endpoint feature, permission, payment. All of it is
 * read from D1 at every request, so that a deleted key, another role or a changed account counts from the next call on.
 * Nothing else is read before it passes.
 */
import { permissionsFor, permissionsOfRole } from '../../contract/management/permissions.ts';
import { failed, ok, type Result } from '../../result.ts';
import { principalOf, readApiKeyToken } from '../../store/d1/api-keys.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import { authenticateSession, bearerToken } from '../http/authenticate.ts';
import { RateLimit } from '../http/rate-limit.ts';
import type { ServiceCall } from '../http/service-call.ts';
import type { CredentialError, RateLimitError, SignInError } from '../http/service-error.ts';
import type { Account, Operation, Principal } from './define-operation.ts';

/** Per minute and key, in one isolate. One caller must not slow the account's database down for everyone else. */
const CALLS_PER_MINUTE_MAX = 12_000;
const keyRateLimit = new RateLimit(CALLS_PER_MINUTE_MAX, 'Too many calls with this API key');

export interface Caller {
  account: Account;
  principal: Principal;
}

type AuthorisedCall = Pick<ServiceCall, 'store' | 'request' | 'nowMs' | 'signIn' | 'waitUntil'>;
type CallerError = CredentialError | RateLimitError | SignInError;

export async function authorise(
  call: AuthorisedCall,
  operation: Pick<Operation, 'feature' | 'permission' | 'access'>,
): Promise<Result<Caller, CallerError>> {
  // A call with both has an API key: a program that sends cookies along is still a program.
  const caller = call.request.headers.has('authorization')
    ? await keyCaller(call)
    : ((await sessionCaller(call)) ?? failed<CallerError>({ kind: 'authorization-missing' }));
  if (!caller.ok) return caller;
  const { account, principal } = caller.value;
  const { feature } = operation;
  if (!account.features.includes(feature)) return failed({ kind: 'feature-not-enabled', feature });
  const held = principal.permissions[feature];
  const permissions = permissionsFor(operation);
  if (!permissions.some((one) => held?.includes(one))) {
    const who = principal.kind === 'user' ? 'Your role' : 'The API key';
    return failed({ kind: 'permission-missing', who, permissions });
  }
  if (operation.access === 'write' && account.paymentOwed) return failed({ kind: 'payment-required' });
  return caller;
}

async function keyCaller({ store, request, nowMs }: AuthorisedCall): Promise<Result<Caller, CallerError>> {
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
  const { id, name, permissions } = apiKey;
  return ok({ account, principal: { kind: 'api-key', id, name, permissions } });
}

/** `null`: the call has no session either. The feature `API` is about keys, so a session does not need it. */
async function sessionCaller(call: AuthorisedCall): Promise<Result<Caller, CallerError> | null> {
  const user = await authenticateSession(call);
  if (user === null || !user.ok) return user;
  const { session, name, role, account } = user.value;
  if (account.disabled) return failed({ kind: 'account-disabled' });
  const principal: Principal = { kind: 'user', id: session.email, name, permissions: permissionsOfRole(role) };
  return ok({ account, principal });
}
