/**
 * The challenge that the edge mints and checks itself while the service is away: SHA-256 work, level 0, bound to the
 * visitor's network and user agent. A weaker gate for a short time is better than an open one, and better than locking
 * visitors out during an outage. One for a session is sealed for that purpose and buys no clearance, nor the other way
 * round.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { SessionChallenge } from '../../contract/edge/session-challenge.ts';
import { encodeHex } from '../../bytes/hex.ts';
import { isJsonObject } from '../../bytes/json.ts';
import { checkSha256, mintSha256 } from '../../captcha/pow/pow-sha256.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { Signals } from '../request/signals.ts';
import { openJson, sealJson } from '../seal/sealed-box.ts';
import type { BoxPurpose } from '../seal/sealed-box.ts';

/** Stands in front of the edge's own challenges and tokens and tells them from the service's. */
export const LOCAL_PREFIX = 'edge.';
export const LOCAL_LEVEL = 0;
/** The work's equivalent in RSW squarings: a second or two of a phone's plain JavaScript. */
const SQUARINGS = 12_000;
const CHALLENGE_SECONDS = 300;
const TOKEN_SECONDS = 120;
/** Tokens this isolate remembers as spent. Across isolates, the short life and the binding limit replays. */
const SPENT_MAX = 20_000;

interface LocalChallenge {
  jti: string;
  binding: string;
  salt: string;
  bits: number;
  /** Epoch milliseconds. */
  expiresAt: number;
}
type LocalToken = Pick<LocalChallenge, 'jti' | 'binding' | 'expiresAt'>;

export class LocalChallenges {
  readonly #spent = new BoundedMap<true>(SPENT_MAX);

  /** A `challengeResponse` of the widget's API. */
  async mint(config: CompiledConfig, signals: Signals, nowMs: number): Promise<object> {
    return { kind: 'pow', ...(await mintWork(config, 'local-challenge', signals, nowMs)) };
  }

  /** A `solutionResponse` of the widget's API. */
  async check(
    config: CompiledConfig,
    signals: Signals,
    challenge: string,
    solution: unknown,
    nowMs: number,
  ): Promise<object> {
    const solved = await solvedWork(config, 'local-challenge', signals, { challenge, solution }, nowMs);
    if (!solved.ok) return { verified: false, reason: solved.error };
    const { jti, binding } = solved.value;
    const token: LocalToken = { jti, binding, expiresAt: nowMs + TOKEN_SECONDS * 1000 };
    const sealed = await sealJson(config.keys.current, 'local-token', token);
    return { verified: true, token: LOCAL_PREFIX + sealed, expiresAt: token.expiresAt };
  }

  /** The jti of a good token, which is spent now; else `null`. */
  async spend(config: CompiledConfig, signals: Signals, token: string, nowMs: number): Promise<string | null> {
    const opened = await openJson<LocalToken>(config.keys.byKid, 'local-token', token.slice(LOCAL_PREFIX.length));
    if (!opened || nowMs > opened.expiresAt || !(await isTheirs(opened, signals))) return null;
    if (this.#spent.get(opened.jti)) return null;
    this.#spent.set(opened.jti, true);
    return opened.jti;
  }
}

type WorkPurpose = Extract<BoxPurpose, 'local-challenge' | 'local-session'>;

export async function mintWork(
  config: CompiledConfig,
  purpose: WorkPurpose,
  signals: Signals,
  nowMs: number,
): Promise<SessionChallenge & { jti: string }> {
  const pow = mintSha256(SQUARINGS);
  const jti = encodeHex(crypto.getRandomValues(new Uint8Array(16)));
  const expiresAt = nowMs + CHALLENGE_SECONDS * 1000;
  const binding = await visitorBinding(signals.ip, signals.userAgent);
  const sealed: LocalChallenge = { jti, binding, salt: pow.salt, bits: pow.bits, expiresAt };
  const challenge = LOCAL_PREFIX + (await sealJson(config.keys.current, purpose, sealed));
  return { jti, challenge, expiresAt, pow: { lane: 'sha256', ...pow } };
}

/** What this visitor solved in time, or the reason why it does not count. */
export async function solvedWork(
  config: CompiledConfig,
  purpose: WorkPurpose,
  signals: Signals,
  { challenge, solution }: { challenge: string; solution: unknown },
  nowMs: number,
): Promise<Result<LocalChallenge, string>> {
  const opened = await openJson<LocalChallenge>(config.keys.byKid, purpose, challenge.slice(LOCAL_PREFIX.length));
  if (!opened || !(await isTheirs(opened, signals))) return failed('invalid-challenge');
  if (nowMs > opened.expiresAt) return failed('challenge-expired');
  const counters = isJsonObject(solution) ? solution['counters'] : null;
  return checkSha256(opened.salt, opened.bits, counters) ? ok(opened) : failed('wrong-solution');
}

async function isTheirs({ binding }: { binding: string }, signals: Signals): Promise<boolean> {
  return binding === (await visitorBinding(signals.ip, signals.userAgent));
}
