/**
 * Derives every key an edge needs from one credential by HKDF-SHA256, for an edge whose service has no key endpoint. The
 * same credential gives the same keys in every isolate; a new one rotates them all.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import type { EdgeKeySet } from '../../contract/edge/edge-api.ts';

export interface DerivedKeys {
  edge: EdgeKeySet;
  rulesetKid: string;
  rulesetKey: CryptoKey;
  /** Raw 32 bytes, base64url. */
  rulesetPublicKey: string;
}

const encoder = new TextEncoder();
/** RFC 8410: what stands before the 32 bytes of an Ed25519 private key in PKCS #8. */
const PKCS8_HEAD = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
const KID = 'derived';

export async function deriveKeys(credential: string, scope: string): Promise<DerivedKeys> {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(credential), 'HKDF', false, ['deriveBits']);
  const derive = async (label: string): Promise<Uint8Array> => {
    const parameters = {
      name: 'HKDF',
      hash: 'SHA-256',
      salt: encoder.encode(scope),
      info: encoder.encode(`gatehouse edge ${label} v1`),
    };
    return new Uint8Array(await crypto.subtle.deriveBits(parameters, secret, 256));
  };
  const text = async (label: string): Promise<string> => encodeBase64url(await derive(label));
  const pkcs8 = new Uint8Array([...PKCS8_HEAD, ...(await derive('ruleset'))]);
  const rulesetKey = await crypto.subtle.importKey('pkcs8', pkcs8, { name: 'Ed25519' }, true, ['sign']);
  const jwk = (await crypto.subtle.exportKey('jwk', rulesetKey)) as JsonWebKey;
  return {
    edge: {
      kid: KID,
      clearance: await text('clearance'),
      session: await text('session'),
      seal: await text('seal'),
      originSignature: await text('origin signature'),
    },
    rulesetKid: KID,
    rulesetKey,
    rulesetPublicKey: jwk.x ?? '',
  };
}
