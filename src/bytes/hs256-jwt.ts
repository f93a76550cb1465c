/**
 * JWTs that the edge or the service signs with a symmetric key, with HS256 only (RFC 7515). WebCrypto signs and verifies
 * them, in constant time. There is one algorithm, one form and no choice left to the token but its key, so a library's
 * general case, 4.6 KiB of every edge, is not needed; a test compares both with jose. Claims are returned unchecked: each caller checks
 * times and subject with its own tolerance.
 */
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { isJsonObject, parseJson } from './json.ts';

export type Hs256Key = CryptoKey | Uint8Array;

const encoder = new TextEncoder();

export async function signHs256(claims: object, key: Hs256Key, kid: string): Promise<string> {
  const signed = [{ alg: 'HS256', typ: 'JWT', kid }, claims]
    .map((part) => encodeBase64url(encoder.encode(JSON.stringify(part))))
    .join('.');
  const mac = await crypto.subtle.sign('HMAC', await hmacKey(key), encoder.encode(signed));
  return `${signed}.${encodeBase64url(new Uint8Array(mac))}`;
}

/**
 * No padding, spaces or unused bits in the signature: a JWT is remembered by its text, so it must have one text only.
 */
const ONE_SPELLING = /^([\w-]+)\.([\w-]+)\.([\w-]{42}[AEIMQUYcgkosw048])$/;

/** The claims of a JWT. `keyOf` returns `null` for an unknown key. @throws when the signature is not valid. */
export async function openHs256(jwt: string, keyOf: (kid: string) => Hs256Key | null): Promise<object> {
  const [, header = '', payload = '', mac = ''] = ONE_SPELLING.exec(jwt) ?? [];
  const { alg, kid = '', crit } = objectIn(header);
  // An extension that must be understood is not (RFC 7515 section 4.1.11).
  if (alg !== 'HS256' || typeof kid !== 'string' || crit !== undefined) throw new TypeError('not a compact HS256 JWT');
  const key = keyOf(kid);
  const isValid =
    key !== null &&
    (await crypto.subtle.verify(
      'HMAC',
      await hmacKey(key),
      decodeBase64url(mac)!,
      encoder.encode(`${header}.${payload}`),
    ));
  if (!isValid) throw new ForeignJwt();
  return objectIn(payload);
}

/** The JWT names a key that does not exist, or no longer does, or was not signed with it. */
export class ForeignJwt extends Error {}

function objectIn(part: string): Record<string, unknown> {
  const value = parseJson(decodeBase64url(part));
  if (!isJsonObject(value)) throw new TypeError('no object in a part of the JWT');
  return value;
}

function hmacKey(key: Hs256Key): Promise<CryptoKey> | CryptoKey {
  if (key instanceof CryptoKey) return key;
  return crypto.subtle.importKey('raw', new Uint8Array(key), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);
}
