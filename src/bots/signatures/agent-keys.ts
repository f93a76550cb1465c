/**
 * The keys of agents, as an isolate remembers them: by the address of their directory and by thumbprint, never by
 * thumbprint alone, because one agent's key could then sign for another. The service fetches directories; here are its
 * answers. A directory that could not be fetched removes no key, so that an outage at an agent's operator does not
 * revoke all of their keys. A directory without the key does.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { WindowCounts } from '../../bytes/window-counts.ts';
import type { BotKey, BotKeys } from '../../contract/edge/bot-calls.ts';
import type { MissingKey } from './signature-outcome.ts';

export interface AgentKey {
  key: CryptoKey;
  algorithm: 'ed25519' | 'rsa-pss-sha512';
}

interface Directory {
  keys: ReadonlyMap<string, AgentKey>;
  usableUntilMs: number;
  /** Before they end, so that an agent that comes often is never without keys. */
  refreshFromMs: number;
}

/** Agents that are known, a few KB each. */
const DIRECTORIES_MAX = 256;
/** About 200 bytes each. */
const ASKED_MAX = 1000;
/** Also how soon a key that the directory does not list is asked for again. */
const ASK_AGAIN_MS = 60_000;
/** How much longer keys are used when the service does not answer. */
const KEPT_MS = 300_000;
/** Anybody can name new agents. The known ones are not counted. */
const UNKNOWN_ASKED_PER_MINUTE = 30;
const MINUTE_MS = 60_000;
const REFRESH_AFTER = 0.75;

export class AgentKeys {
  readonly #directories = new BoundedMap<Directory>(DIRECTORIES_MAX);
  /** When a directory, or one of its keys, may be asked for again. */
  readonly #askAgain = new BoundedMap<number>(ASKED_MAX);
  readonly #asked = new WindowCounts(UNKNOWN_ASKED_PER_MINUTE, MINUTE_MS);

  /** `undefined`: the directory is not known, or not any more. `null`: it does not list the key. */
  find(directory: string, keyid: string, nowMs: number): AgentKey | null | undefined {
    const known = this.#directories.get(directory);
    if (known === undefined || known.usableUntilMs <= nowMs) return undefined;
    return known.keys.get(keyid) ?? null;
  }

  /** Whether the service should be asked for a directory now. The caller then calls `learn` or `failed`. */
  shouldAsk({ directory, keyid }: Pick<MissingKey, 'directory' | 'keyid'>, nowMs: number): boolean {
    const known = this.#directories.get(directory);
    const isListed = known?.keys.has(keyid) === true;
    if (isListed && nowMs < known.refreshFromMs) return false;
    if ((this.#askAgain.get(directory) ?? 0) > nowMs) return false;
    if (known === undefined && !this.#asked.take('', nowMs)) return false;
    this.#askAgain.set(directory, nowMs + ASK_AGAIN_MS);
    return true;
  }

  async learn(directory: string, { isFetched, keys, maxAgeSeconds }: BotKeys, nowMs: number): Promise<void> {
    const untilMs = nowMs + maxAgeSeconds * 1000;
    const known = this.#directories.get(directory);
    if (!isFetched && keys.length === 0) {
      this.#askAgain.set(directory, untilMs);
      if (known !== undefined) this.#keep(directory, known.keys, nowMs, untilMs);
      return;
    }
    const imported = await Promise.all(keys.map(async (jwk) => [jwk.keyid, await importKey(jwk)] as const));
    const usable = imported.filter((entry): entry is readonly [string, AgentKey] => entry[1] !== null);
    this.#keep(directory, new Map(usable), nowMs, untilMs);
  }

  /** The service gave no answer: what is known stays usable until it is asked again. */
  failed(directory: string, nowMs: number): void {
    const known = this.#directories.get(directory);
    if (known !== undefined) this.#keep(directory, known.keys, nowMs, Math.max(known.usableUntilMs, nowMs + KEPT_MS));
  }

  #keep(directory: string, keys: Directory['keys'], nowMs: number, usableUntilMs: number): void {
    const refreshFromMs = nowMs + (usableUntilMs - nowMs) * REFRESH_AFTER;
    this.#directories.set(directory, { keys, usableUntilMs, refreshFromMs });
  }
}

/** `null` for a key that this platform cannot use. */
async function importKey(jwk: BotKey): Promise<AgentKey | null> {
  const [algorithm, parameters] =
    jwk.kty === 'OKP'
      ? (['ed25519', { name: 'Ed25519' }] as const)
      : (['rsa-pss-sha512', { name: 'RSA-PSS', hash: 'SHA-512' }] as const);
  const { keyid: _, ...material } = jwk;
  try {
    return {
      algorithm,
      key: await crypto.subtle.importKey('jwk', material as JsonWebKey, parameters, false, ['verify']),
    };
  } catch {
    return null;
  }
}
