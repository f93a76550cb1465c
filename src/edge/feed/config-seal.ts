/**
 * Seals the config at rest in KV and in the colo cache: it holds the site secret and every key. AES-256-GCM under a key
 * that HKDF derives from the edge's own credential, so that reading the storage without the Worker's secrets shows
 * nothing.
 */
import { openBytes, sealBytes } from '../../bytes/aes-gcm.ts';
import { ok } from '../../result.ts';
import { type Asked, UNREADABLE } from './upstream.ts';

const encoder = new TextEncoder();

export class ConfigSeal {
  readonly #credential: string;
  /** A settled value, never a promise: a promise begun by a killed request never settles. */
  #key: CryptoKey | null = null;

  /** `credential`: the client JWT, or the API key where there is none. */
  constructor(credential: string) {
    this.#credential = credential;
  }

  async seal(json: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    return sealBytes(await this.#derived(), json);
  }

  /** Fails with what was sealed elsewhere, changed, or sealed under another credential. */
  async open(bytes: Uint8Array<ArrayBuffer>): Promise<Asked<Uint8Array<ArrayBuffer>>> {
    const opened = await openBytes(await this.#derived(), bytes);
    return opened ? ok(opened) : UNREADABLE;
  }

  async #derived(): Promise<CryptoKey> {
    this.#key ??= await deriveKey(this.#credential);
    return this.#key;
  }
}

async function deriveKey(credential: string): Promise<CryptoKey> {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(credential), 'HKDF', false, ['deriveKey']);
  const parameters = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(0),
    info: encoder.encode('gatehouse edge config at rest v1'),
  };
  return crypto.subtle.deriveKey(parameters, secret, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}
