/** `GET /.well-known/jwks.json` (RFC 7517): the current and former public keys that client JWTs are checked with. */
import { signingKey, verificationKeys } from '../../store/keys/signing-keys.ts';
import type { ServiceStore } from '../environment.ts';

/** Keys are added, never changed. A checker that does not know a `kid` asks again. */
const JWKS_MAX_AGE_SECONDS = 300;

export async function jwks(store: ServiceStore, nowMs: number): Promise<Response> {
  await signingKey(store, 'client-jwt', nowMs);
  const keys = await verificationKeys(store, 'client-jwt', nowMs);
  return Response.json(
    { keys: keys.map((key) => key.publicJwk) },
    {
      headers: {
        'content-type': 'application/jwk-set+json',
        'cache-control': `public, max-age=${JWKS_MAX_AGE_SECONDS}`,
        'access-control-allow-origin': '*',
      },
    },
  );
}
