/**
 * Keys of seals and tags. Every key is derived from the deployment's master key under a label with its purpose and its
 * UTC day. A challenge can therefore never be read as a token. The day is the `kid`: keys of yesterday and today are
 * accepted, no others.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';

/**
 * `challenge`, `session` (the challenge of a session) and `token` encrypt, `answer` tags, `layout` seeds pictures,
 * `visitor` hashes addresses.
 */
export type KeyPurpose = 'challenge' | 'session' | 'token' | 'answer' | 'layout' | 'visitor';

/** 32 bytes under a label; the service passes HKDF of its master key. */
export type DeriveKey = (label: string) => Promise<Bytes>;

const DAY_MS = 86_400_000;
/** How far two isolates' clocks may differ around midnight. */
export const CLOCK_SKEW_MS = 5000;
/** Two days, six purposes, both key kinds; a cleared memo costs one HKDF each. */
const MEMO_MAX_ENTRIES = 64;

export class Keyring {
  readonly #derive: DeriveKey;
  /** Settled values, never promises: one that a cancelled request began may never settle on Workers. */
  readonly #memo = new BoundedMap<CryptoKey>(MEMO_MAX_ENTRIES);

  constructor(derive: DeriveKey) {
    this.#derive = derive;
  }

  /** AES-256-GCM key of a sealing purpose. */
  sealKey(purpose: 'challenge' | 'session' | 'token', day: number): Promise<CryptoKey> {
    return this.#key(purpose, day, { name: 'AES-GCM' }, ['encrypt', 'decrypt']);
  }

  /** HMAC-SHA256 key of a tagging purpose. */
  tagKey(purpose: 'answer' | 'layout' | 'visitor', day: number): Promise<CryptoKey> {
    return this.#key(purpose, day, { name: 'HMAC', hash: 'SHA-256' }, ['sign', 'verify']);
  }

  async #key(
    purpose: KeyPurpose,
    day: number,
    algorithm: { name: string; hash?: string },
    usages: KeyUsage[],
  ): Promise<CryptoKey> {
    const label = `captcha/${purpose}/${day}`;
    const kept = this.#memo.get(label);
    if (kept !== undefined) return kept;
    const made = await crypto.subtle.importKey('raw', await this.#derive(label), algorithm, false, usages);
    this.#memo.set(label, made);
    return made;
  }
}

type KeyUsage = 'encrypt' | 'decrypt' | 'sign' | 'verify';

/** The `kid` of a moment: days since the epoch, UTC. */
export function keyDay(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** Whether a structure under this `kid` may still be opened. */
export function keyDayAccepted(day: number, nowMs: number): boolean {
  return day >= keyDay(nowMs) - 1 && day <= keyDay(nowMs + CLOCK_SKEW_MS);
}
