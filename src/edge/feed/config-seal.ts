/**
 * The config holds the site secret and every key: at rest in KV and in the colo cache it is sealed
 * with AES-256-GCM under a key that HKDF derives from the edge's own credential (design 4), so that
 * whoever can read the storage but not the Worker's secrets learns nothing.
 */
const encoder = new TextEncoder();
const NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;

export class ConfigSeal {
  readonly #credential: string;
  #key: Promise<CryptoKey> | null = null;

  /** `credential`: the client JWT, or the API key where there is none. */
  constructor(credential: string) {
    this.#credential = credential;
  }

  async seal(text: string): Promise<Uint8Array<ArrayBuffer>> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await this.#derived(), encoder.encode(text));
    const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(sealed), NONCE_BYTES);
    return bytes;
  }

  /** `null`: not ours, changed on the way, or from another credential. */
  async open(bytes: Uint8Array<ArrayBuffer>): Promise<string | null> {
    if (bytes.length < NONCE_BYTES + GCM_TAG_BYTES) return null;
    try {
      const opened = await crypto.subtle.decrypt(
        { name: 'AES-GCM', iv: bytes.subarray(0, NONCE_BYTES) },
        await this.#derived(),
        bytes.subarray(NONCE_BYTES),
      );
      return new TextDecoder().decode(opened);
    } catch {
      return null;
    }
  }

  #derived(): Promise<CryptoKey> {
    this.#key ??= deriveKey(this.#credential);
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
