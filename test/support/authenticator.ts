/**
 * An authenticator in software: it makes passkeys and signs with them as a device does, and it lies where a test asks it to.
 * Written against the standard (Web Authentication Level 3, section 6), not against the service.
 */
type Bytes = Uint8Array<ArrayBuffer>;
const utf8 = new TextEncoder();
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

export type PasskeyKind = 'ES256' | 'RS256' | 'EdDSA';

export interface Lies {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  verified?: boolean;
  counter?: number;
  userHandle?: string;
}

export class Authenticator {
  readonly id = base64url(crypto.getRandomValues(new Uint8Array(32)));
  readonly #kind: PasskeyKind;
  readonly #origin: string;
  readonly #keys: CryptoKeyPair;
  #counter = 0;

  private constructor(kind: PasskeyKind, origin: string, keys: CryptoKeyPair) {
    this.#kind = kind;
    this.#origin = origin;
    this.#keys = keys;
  }

  static async made(origin: string, kind: PasskeyKind = 'ES256'): Promise<Authenticator> {
    const keys = (await crypto.subtle.generateKey(algorithms[kind], true, ['sign', 'verify'])) as CryptoKeyPair;
    return new Authenticator(kind, origin, keys);
  }

  /** The answer to creation options, as `PublicKeyCredential.toJSON()` writes it. */
  async create(options: { challenge: string; rp: { id: string } }, lies: Lies = {}): Promise<object> {
    const id = fromBase64url(this.id);
    const credential = joined(new Uint8Array(16), uint(id.length, 2), id, await this.#cosePublicKey());
    const data = joined(await this.#head(options.rp.id, HAS_CREDENTIAL, lies), credential);
    const attestation = joined(
      map(3),
      text('fmt'),
      text('none'),
      text('attStmt'),
      map(0),
      text('authData'),
      bytes(data),
    );
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(this.#clientData('webauthn.create', options.challenge, lies)),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      },
    };
  }

  /** The answer to request options. The counter rises with each use, unless a test says otherwise. */
  async get(options: { challenge: string; rpId: string }, lies: Lies = {}): Promise<object> {
    this.#counter = lies.counter ?? this.#counter + 1;
    const authenticatorData = await this.#head(options.rpId, 0, { counter: this.#counter, ...lies });
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, lies);
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', clientDataJSON));
    const signed = await crypto.subtle.sign(
      signing[this.#kind],
      this.#keys.privateKey,
      joined(authenticatorData, hash),
    );
    const signature = new Uint8Array(signed);
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(clientDataJSON),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(this.#kind === 'ES256' ? der(signature) : signature),
        ...(lies.userHandle === undefined ? {} : { userHandle: lies.userHandle }),
      },
    };
  }

  #clientData(type: string, challenge: string, lies: Lies): Bytes {
    const content = {
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? this.#origin,
      crossOrigin: lies.crossOrigin ?? false,
    };
    return utf8.encode(JSON.stringify(content)) as Bytes;
  }

  async #head(rpId: string, flags: number, lies: Lies): Promise<Bytes> {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8.encode(lies.rpId ?? rpId)));
    const verified = (lies.verified ?? true) ? USER_VERIFIED : 0;
    return joined(hash, uint(flags | USER_PRESENT | verified, 1), uint(lies.counter ?? 0, 4));
  }

  /** RFC 9053, 7: the key as a CBOR map. */
  async #cosePublicKey(): Promise<Bytes> {
    const jwk = (await crypto.subtle.exportKey('jwk', this.#keys.publicKey)) as JsonWebKey;
    const part = (name: 'x' | 'y' | 'n' | 'e'): Bytes => bytes(fromBase64url(jwk[name] ?? ''));
    if (this.#kind === 'ES256') {
      return joined(map(5), int(1), int(2), int(3), int(-7), int(-1), int(1), int(-2), part('x'), int(-3), part('y'));
    }
    if (this.#kind === 'EdDSA') {
      return joined(map(4), int(1), int(1), int(3), int(-8), int(-1), int(6), int(-2), part('x'));
    }
    return joined(map(4), int(1), int(3), int(3), int(-257), int(-1), part('n'), int(-2), part('e'));
  }
}

const algorithms = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  RS256: {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  },
  EdDSA: { name: 'Ed25519' },
} as const;
const signing = {
  ES256: { name: 'ECDSA', hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  EdDSA: { name: 'Ed25519' },
} as const;

/** r ‖ s as `SEQUENCE { r INTEGER, s INTEGER }`. */
function der(raw: Bytes): Bytes {
  const integer = (value: Bytes): Bytes => {
    const first = value.findIndex((byte) => byte !== 0);
    const digits = value.subarray(first === -1 ? value.length - 1 : first);
    const positive = digits[0]! >= 0x80 ? joined(new Uint8Array(1), digits) : digits;
    return joined(new Uint8Array([0x02, positive.length]), positive);
  };
  const content = joined(integer(raw.slice(0, 32)), integer(raw.slice(32)));
  return joined(new Uint8Array([0x30, content.length]), content);
}

/** CBOR (RFC 8949): a major type with its argument. */
function head(major: number, argument: number): Bytes {
  if (argument < 24) return uint((major << 5) | argument, 1);
  if (argument < 256) return joined(uint((major << 5) | 24, 1), uint(argument, 1));
  return joined(uint((major << 5) | 25, 1), uint(argument, 2));
}
const int = (value: number): Bytes => (value < 0 ? head(1, -1 - value) : head(0, value));
const map = (entries: number): Bytes => head(5, entries);
const text = (value: string): Bytes => joined(head(3, value.length), utf8.encode(value) as Bytes);
const bytes = (value: Bytes): Bytes => joined(head(2, value.length), value);

function uint(value: number, length: number): Bytes {
  return Uint8Array.from({ length }, (_, index) => Math.floor(value / 256 ** (length - 1 - index)) % 256);
}

function joined(...parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function base64url(value: Bytes): string {
  return btoa(String.fromCharCode(...value))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function fromBase64url(value: string): Bytes {
  return Uint8Array.from(atob(value.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.codePointAt(0)!);
}
