/**
 * The public key of a passkey, and what it has signed. Three algorithms, which all authenticators between them know:
 * ES256, RS256 and EdDSA with Ed25519 (RFC 9053). The key is stored as a JWK, which WebCrypto imports.
 */
import {
  coseAlgorithmEdDSA,
  coseAlgorithmES256,
  coseAlgorithmRS256,
  coseEllipticCurveEd25519,
  coseEllipticCurveP256,
  COSEKeyType,
  type COSEPublicKey,
} from '@oslojs/webauthn';
import { encodeBase64url } from '../../../bytes/base64url.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** In the order in which an authenticator should choose. */
export const passkeyAlgorithms = [coseAlgorithmEdDSA, coseAlgorithmES256, coseAlgorithmRS256] as const;

const P256_BYTES = 32;
const RSA_MODULUS_BYTES = 256;
const RSA_EXPONENT_BYTES = 3;
const ED25519_BYTES = 32;

/** @throws when the key is not of one of the three algorithms, or not on its curve. */
export async function publicJwk(key: COSEPublicKey): Promise<JsonWebKey> {
  const jwk = jwkOf(key);
  // A point off the curve does not import.
  await importKey(jwk);
  return jwk;
}

function jwkOf(key: COSEPublicKey): JsonWebKey {
  const algorithm = key.algorithm();
  if (key.type() === COSEKeyType.EC2 && algorithm === coseAlgorithmES256) {
    const { curve, x, y } = key.ec2();
    if (curve === coseEllipticCurveP256) {
      return { kty: 'EC', crv: 'P-256', x: unsigned(x, P256_BYTES), y: unsigned(y, P256_BYTES) };
    }
  }
  if (key.type() === COSEKeyType.RSA && algorithm === coseAlgorithmRS256) {
    const { n, e } = key.rsa();
    return { kty: 'RSA', n: unsigned(n, RSA_MODULUS_BYTES), e: unsigned(e, RSA_EXPONENT_BYTES) };
  }
  if (key.type() === COSEKeyType.OKP && algorithm === coseAlgorithmEdDSA) {
    const { curve, x } = key.okp();
    if (curve === coseEllipticCurveEd25519 && x.length === ED25519_BYTES) {
      return { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(x) };
    }
  }
  throw new TypeError('The algorithm is not supported');
}

export async function isSignedBy(jwk: JsonWebKey, signature: Bytes, message: Bytes): Promise<boolean> {
  const key = await importKey(jwk);
  if (jwk.kty !== 'EC') return crypto.subtle.verify(key.algorithm.name, key, signature, message);
  const raw = rawEcdsa(signature);
  return raw !== null && crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, raw, message);
}

function importKey(jwk: JsonWebKey): Promise<CryptoKey> {
  const algorithm =
    jwk.kty === 'EC'
      ? { name: 'ECDSA', namedCurve: 'P-256' }
      : jwk.kty === 'RSA'
        ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
        : { name: 'Ed25519' };
  return crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
}

/** Authenticators send `SEQUENCE { r INTEGER, s INTEGER }` (RFC 3279, 2.2.3), WebCrypto takes r ‖ s. */
function rawEcdsa(der: Bytes): Bytes | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  const raw = new Uint8Array(2 * P256_BYTES);
  let at = 2;
  for (const end of [P256_BYTES, 2 * P256_BYTES]) {
    const length = der[at + 1];
    if (der[at] !== 0x02 || length === undefined || length === 0) return null;
    const value = der.subarray(at + 2, at + 2 + length);
    // One zero byte keeps a large number positive.
    const digits = value[0] === 0 ? value.subarray(1) : value;
    if (value.length !== length || digits.length > P256_BYTES) return null;
    raw.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? raw : null;
}

function unsigned(value: bigint, byteLength: number): string {
  const bytes = new Uint8Array(byteLength);
  let rest = value;
  for (let index = byteLength - 1; index >= 0; index--) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return encodeBase64url(bytes);
}
