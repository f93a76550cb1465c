/**
 * JWTs that the edge or the service signs with a symmetric key, with HS256 only (RFC 7515). jose signs and verifies
 * them. Claims are returned unchecked: each caller checks times and subject with its own tolerance, so jose's general
 * check of claims, and its size, is not needed.
 */
import { CompactSign, compactVerify } from 'jose';

export type Hs256Key = CryptoKey | Uint8Array;

export function signHs256(claims: object, key: Hs256Key, kid: string): Promise<string> {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
    .sign(key);
}

/**
 * No padding, spaces or unused bits in the signature: a JWT is remembered by its text, so it must have one text only.
 */
const ONE_SPELLING = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/;

/** The claims of a JWT. `keyOf` returns `null` for an unknown key. @throws when the signature is not valid. */
export async function openHs256(jwt: string, keyOf: (kid: string) => Hs256Key | null): Promise<object> {
  if (!ONE_SPELLING.test(jwt)) throw new TypeError('not a compact HS256 JWT');
  const { payload } = await compactVerify(
    jwt,
    ({ kid }) => {
      const key = keyOf(kid ?? '');
      if (key === null) throw new UnknownKey();
      return key;
    },
    { algorithms: ['HS256'] },
  );
  const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw new TypeError('no claims');
  return claims;
}

/** The JWT names a key that does not exist, or no longer does. */
export class UnknownKey extends Error {}
