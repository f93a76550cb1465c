/**
 * JWTs under a symmetric key of the edge's or the session's: jose signs and checks them (RFC 7515), HS256
 * and nothing else. Claims come back as they are: who reads them judges times and subject with the
 * tolerance of its own case, which is why the generic claims check (and its weight) stays out.
 */
import { CompactSign, compactVerify } from 'jose';

export type Hs256Key = CryptoKey | Uint8Array;

export function signHs256(claims: object, key: Hs256Key, kid: string): Promise<string> {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
    .sign(key);
}

/** Without padding, blanks or spare bits in the 32 bytes of the signature: what is remembered by its text has one text. */
const ONE_SPELLING = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/;

/** The claims of a JWT whose signature is good; throws what jose throws. `keyOf`: `null` is an unknown key. */
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

/** Signed under a key that is not ours, or no longer. */
export class UnknownKey extends Error {}
