/**
 * Checks `X-Protect-Signature`, by which the gate proves to an origin that a request came through it: HMAC-SHA256 over
 * time, method, target, verdict and the visitor's address. WebCrypto compares in constant time. The signature covers
 * neither the host nor the body, and the same request can be repeated while it is fresh.
 */
import { decodeBase64url } from '../../../../src/bytes/base64url.ts';

/** A `Request`, or what Node's servers have: headers by lower-case name, and the target as `url`. */
export interface SignedRequest {
  method?: string | undefined;
  url?: string | undefined;
  headers: Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Keys in base64url by key id, as `/protect/origin-keys` returns them, or what finds one. */
export type SignatureKeys =
  | Readonly<Record<string, string>>
  | ((kid: string) => string | undefined | Promise<string | undefined>);

export interface SignatureOptions {
  keys: SignatureKeys;
  /** How far a signature may be from now, in either direction. Default 300. */
  maxAgeSeconds?: number;
  /** Epoch milliseconds. Default: the clock. */
  nowMs?: number;
  /**
   * Refuses repetitions: returns `true` once for each id, and may forget it at `untilMs`. Without it, the same request
   * is accepted again while its signature is fresh.
   */
  isFirstUse?: (id: string, untilMs: number) => boolean | Promise<boolean>;
}

/**
 * `missing`: no signature. `malformed`: not one of the gate's. `unknown-key`: `keys` lacks its key. `too-old`, `too-new`:
 * too far from this machine's clock. `mismatch`: another method, path, verdict or visitor than the one signed, or a
 * wrong key. `repeated`: seen before.
 */
export type SignatureFault = 'missing' | 'malformed' | 'unknown-key' | 'too-old' | 'too-new' | 'mismatch' | 'repeated';

export type SignatureResult =
  | {
      valid: true;
      kid: string;
      /** Epoch milliseconds. */
      signedAtMs: number;
      requestId: string;
      /** The gate's decision, such as `allow`. */
      decision: string;
      /** Whether the visitor has solved a challenge. */
      verified: boolean;
      /** The visitor's address, or `null`. */
      ip: string | null;
    }
  | { valid: false; fault: SignatureFault };

const MAX_AGE_SECONDS = 300;
/** A SHA-256 in base64url has 43 characters. */
const FORM = /^t=(\d{1,11}),kid=([\w.:-]{1,128}),v1=([\w-]{43})$/;
/** Scheme and host, then path or query. Other characters in the host would end it for one parser and not for another. */
const WHOLE_ADDRESS = /^https?:\/\/[\w.:~%[\]-]+((?:[/?].*)?)$/is;
const encoder = new TextEncoder();

export async function checkSignature(request: SignedRequest, options: SignatureOptions): Promise<SignatureResult> {
  const signature = headerOf(request, 'x-protect-signature');
  if (signature === '') return fault('missing');
  const [, time = '', kid = '', text = ''] = FORM.exec(signature) ?? [];
  const mac = decodeBase64url(text);
  if (time === '' || mac === null) return fault('malformed');

  const { keys, maxAgeSeconds = MAX_AGE_SECONDS, nowMs = Date.now() } = options;
  // No number, or an endless one, would accept every age.
  if (!(maxAgeSeconds >= 0 && Number.isFinite(maxAgeSeconds) && Number.isFinite(nowMs)))
    throw new TypeError('maxAgeSeconds and nowMs must be numbers.');
  const ageMs = nowMs - Number(time) * 1000;
  // Asked for first: without a key, an attacker learns nothing about this clock.
  const key = await keyOf(keys, kid);
  if (key === null) return fault('unknown-key');
  if (ageMs > maxAgeSeconds * 1000) return fault('too-old');
  if (ageMs < -maxAgeSeconds * 1000) return fault('too-new');

  const names = ['request-id', 'decision', 'verified'].map((name) => headerOf(request, `x-protect-${name}`));
  const [requestId = '', decision = '', verified = ''] = names;
  const ip = headerOf(request, 'x-forwarded-for');
  const signed = [time, request.method ?? '', targetOf(request.url ?? ''), requestId, decision, verified, ip].join(
    '\n',
  );
  if (!(await crypto.subtle.verify('HMAC', key, mac, encoder.encode(signed)))) return fault('mismatch');
  const untilMs = (Number(time) + maxAgeSeconds) * 1000;
  if (options.isFirstUse !== undefined && !(await options.isFirstUse(text, untilMs))) return fault('repeated');
  return {
    valid: true,
    kid,
    signedAtMs: Number(time) * 1000,
    requestId,
    decision,
    verified: verified === 'true',
    ip: ip === '' ? null : ip,
  };
}

function fault(name: SignatureFault): SignatureResult {
  return { valid: false, fault: name };
}

/** A header that came twice is joined, as HTTP does, and then matches nothing that was signed. */
function headerOf({ headers }: SignedRequest, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const value = Object.hasOwn(headers, name)
    ? (headers as Record<string, string | readonly string[]>)[name]
    : undefined;
  return typeof value === 'string' ? value : (value?.join(', ') ?? '');
}

/** Path and query of a whole address, or of Node's target, which is one already. */
function targetOf(url: string): string {
  const [address = ''] = url.split('#', 1);
  if (address.startsWith('/')) return address;
  const [, rest] = WHOLE_ADDRESS.exec(address) ?? [];
  // What routers could read in another way has no target, and so no signature.
  if (rest === undefined) return '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Imported keys of each `keys` object, so that a server imports each key once. */
const imported = new WeakMap<object, Map<string, { text: string; key: Promise<CryptoKey> }>>();

async function keyOf(keys: SignatureKeys, kid: string): Promise<CryptoKey | null> {
  if (typeof keys === 'function') {
    const text = await keys(kid);
    return text === undefined ? null : importKey(kid, text);
  }
  // Own fields only: `kid` comes from the request and may be `constructor`.
  const text = Object.hasOwn(keys, kid) ? keys[kid] : undefined;
  if (text === undefined) return null;
  let known = imported.get(keys);
  if (known === undefined) imported.set(keys, (known = new Map()));
  const kept = known.get(kid);
  if (kept?.text === text) return kept.key;
  const key = importKey(kid, text);
  known.set(kid, { text, key });
  return key;
}

const KEY_BYTES = 32;

async function importKey(kid: string, text: string): Promise<CryptoKey> {
  const bytes = decodeBase64url(text);
  if (bytes?.length !== KEY_BYTES)
    throw new TypeError(`The signature key ${kid} must be ${KEY_BYTES} bytes in base64url.`);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}
