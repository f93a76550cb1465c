/**
 * `POST /console/auth/access`: sign-in where Cloudflare Access stands in front of the service. Access adds a JWT to every
 * request that it lets through. Its keys are cached; its audience must be our application, because each customer of
 * Cloudflare can obtain a JWT of their own.
 */
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import type * as z from 'zod/mini';
import { BoundedMap } from '../../../bytes/bounded-map.ts';
import type { signInBodies } from '../../../contract/console/sign-in.ts';
import { emailAddress } from '../../../contract/management/email-address.ts';
import { failed, ok } from '../../../result.ts';
import { completeSignIn } from './complete-sign-in.ts';
import type { ConsoleCall, ConsoleResult } from './console-call.ts';
import { providerFetch, whyOf } from './provider-fetch.ts';

const PROVIDER = 'Cloudflare Access';
/** A JWT of Access has about 1 KB. */
const JWT_MAX_CHARS = 8192;
const keySets = new BoundedMap<ReturnType<typeof createRemoteJWKSet>>(4);

export async function accessSignIn(
  call: ConsoleCall,
  { replaces }: z.infer<typeof signInBodies.provider>,
): Promise<ConsoleResult> {
  const { access } = call.signIn;
  if (access === null) return failed({ kind: 'provider-not-configured', provider: PROVIDER });
  const jwt = call.request.headers.get('cf-access-jwt-assertion') ?? '';
  if (jwt === '' || jwt.length > JWT_MAX_CHARS) return refused('did not let this request through');
  let claimed: unknown;
  try {
    const { payload } = await jwtVerify(jwt, keysOf(access.issuer), {
      issuer: access.issuer,
      audience: access.audience,
      algorithms: ['RS256'],
      requiredClaims: ['exp', 'iat'],
      currentDate: new Date(call.nowMs),
    });
    claimed = payload['email'];
  } catch (error) {
    return refused(`cannot confirm who you are (${whyOf(error)})`);
  }
  const email = emailAddress.safeParse(claimed);
  // A service token of Access has no address.
  if (!email.success) return refused('sent no email address');
  return completeSignIn(call, {
    replaces,
    proved: () => email.data,
    take: async () => ok({ email: email.data, method: 'access', accountId: null }),
  });
}

function keysOf(issuer: string): ReturnType<typeof createRemoteJWKSet> {
  const kept = keySets.get(issuer);
  if (kept !== undefined) return kept;
  const made = createRemoteJWKSet(new URL(`${issuer}/cdn-cgi/access/certs`), { [customFetch]: providerFetch });
  keySets.set(issuer, made);
  return made;
}

function refused(why: string): ConsoleResult {
  return failed({ kind: 'provider-refused', provider: PROVIDER, why });
}
