/**
 * The four parts a feed loads, and how each is kept outside the isolate: a small pointer, the sealed config, and the two
 * signed ruleset files, named by their content. Colo cache and KV store them alike. Neither is trusted: seal and
 * signatures are checked on every load.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { edgeConfig, edgeVersion, type EdgeVersion } from '../../contract/edge/edge-responses.ts';
import { READS_QUERY } from '../../contract/edge/formats.ts';
import { parseJson } from '../../bytes/json.ts';
import { ok } from '../../result.ts';
import { ABSENT, UNREADABLE, type Asked, type SentConfig } from './upstream.ts';
import { openBytes, sealBytes } from '../../bytes/aes-gcm.ts';

/** `maxAgeSeconds: null` keeps it until it is replaced or evicted. */
export interface PartStore {
  get(name: string): Promise<Bytes | null>;
  /** True when it is stored. */
  put(name: string, bytes: Bytes, maxAgeSeconds: number | null): Promise<boolean>;
}

const encoder = new TextEncoder();

export const partName = {
  pointer: 'pointer',
  /** In the colo cache, where isolates of two releases may meet for a while. */
  cachedPointer: `pointer/${READS_QUERY}`,
  config: (version: string) => `config/${encodeURIComponent(version)}`,
  base: (hash: string) => `base/${hash}`,
  bots: (hash: string) => `bots/${hash}`,
  delta: (hash: string, version: number) => `delta/${hash}/${version}`,
};

export function encodePointer(version: EdgeVersion): Bytes {
  return encoder.encode(JSON.stringify(version)) as Bytes;
}

export function decodePointer(bytes: Bytes | null): Asked<EdgeVersion> {
  if (bytes === null) return ABSENT;
  const read = edgeVersion.safeParse(parseJson(bytes));
  return read.success ? ok(read.data) : UNREADABLE;
}

export function decodeConfig(json: Bytes): Asked<SentConfig> {
  const read = edgeConfig.safeParse(parseJson(json));
  return read.success ? ok({ config: read.data, json }) : UNREADABLE;
}

export async function openConfig(bytes: Bytes | null, seal: ConfigSeal): Promise<Asked<SentConfig>> {
  if (bytes === null) return ABSENT;
  const opened = await seal.open(bytes);
  return opened.ok ? decodeConfig(opened.value) : opened;
}

/**
 * Seals the config at rest in KV and in the colo cache: it holds the site secret and every key. AES-256-GCM under a key
 * that HKDF derives from the edge's own credential, so that reading the storage without the Worker's secrets shows
 * nothing.
 */
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
    if (this.#key === null) {
      const bytes = await derivedBytes(this.#credential, '', 'gatehouse edge config at rest v1');
      this.#key = await crypto.subtle.importKey('raw', bytes, { name: 'AES-GCM' }, false, ['encrypt', 'decrypt']);
    }
    return this.#key;
  }
}

/** The 256 bits of a key, from the edge's own credential by HKDF-SHA256. */
export async function derivedBytes(credential: string, salt: string, info: string): Promise<Bytes> {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(credential), 'HKDF', false, ['deriveBits']);
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: encoder.encode(salt), info: encoder.encode(info) };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, secret, 256));
}
