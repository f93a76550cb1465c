/**
 * The challenge the edge mints and checks by itself while the service is away (design 8): the SHA-256
 * lane, level 0, bound to the visitor's network and user agent. A weaker gate for a short time is
 * better than an open one, and better than visitors locked out by an outage that is not theirs.
 */
import { checkSha256, mintSha256 } from '../../captcha/pow/pow-sha256.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { encodeHex } from '../../bytes/hex.ts';
import type { CompiledConfig } from '../feed/compiled-config.ts';
import { openJson, sealJson } from '../seal/sealed-box.ts';
import type { Signals } from '../request/signals.ts';

/** In front of what is ours, so that a look tells it from the service's. */
export const LOCAL_PREFIX = 'edge.';
export const LOCAL_LEVEL = 0;
/** Worth of the work in RSW squarings: a second or two of a phone's plain JavaScript. */
const SQUARINGS = 12_000;
const CHALLENGE_SECONDS = 300;
const TOKEN_SECONDS = 120;
/** Tokens this isolate has taken; across isolates a short life and the binding must do. */
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

const spent = new BoundedMap<true>(SPENT_MAX);

/** A `challengeAnswer` of the widget's API. */
export async function mintLocalChallenge(config: CompiledConfig, signals: Signals, nowMs: number): Promise<object> {
  const pow = mintSha256(SQUARINGS);
  const jti = encodeHex(crypto.getRandomValues(new Uint8Array(16)));
  const expiresAt = nowMs + CHALLENGE_SECONDS * 1000;
  const sealed: LocalChallenge = {
    jti,
    binding: await visitorBinding(signals.ip, signals.userAgent),
    salt: pow.salt,
    bits: pow.bits,
    expiresAt,
  };
  const challenge = LOCAL_PREFIX + (await sealJson(config.keys.current, 'local-challenge', sealed));
  return { jti, kind: 'pow', challenge, expiresAt, pow: { lane: 'sha256', ...pow } };
}

/** A `solutionAnswer` of the widget's API. */
export async function checkLocalSolution(
  config: CompiledConfig,
  signals: Signals,
  challenge: string,
  solution: unknown,
  nowMs: number,
): Promise<object> {
  const text = challenge.slice(LOCAL_PREFIX.length);
  const opened = await openJson<LocalChallenge>(config.keys.byKid, 'local-challenge', text);
  if (!opened || !(await isTheirs(opened, signals))) return { verified: false, reason: 'invalid-challenge' };
  if (nowMs > opened.expiresAt) return { verified: false, reason: 'challenge-expired' };
  const counters =
    typeof solution === 'object' && solution !== null ? (solution as { counters?: unknown }).counters : null;
  if (!checkSha256(opened.salt, opened.bits, counters)) return { verified: false, reason: 'wrong-solution' };
  const token: LocalToken = { jti: opened.jti, binding: opened.binding, expiresAt: nowMs + TOKEN_SECONDS * 1000 };
  const sealed = await sealJson(config.keys.current, 'local-token', token);
  return { verified: true, token: LOCAL_PREFIX + sealed, expiresAt: token.expiresAt };
}

/** The jti of a token that is good, and now spent; else `null`. */
export async function spendLocalToken(
  config: CompiledConfig,
  signals: Signals,
  token: string,
  nowMs: number,
): Promise<string | null> {
  const opened = await openJson<LocalToken>(config.keys.byKid, 'local-token', token.slice(LOCAL_PREFIX.length));
  if (!opened || nowMs > opened.expiresAt || !(await isTheirs(opened, signals))) return null;
  if (spent.get(opened.jti)) return null;
  spent.set(opened.jti, true);
  return opened.jti;
}

async function isTheirs({ binding }: { binding: string }, signals: Signals): Promise<boolean> {
  return binding === (await visitorBinding(signals.ip, signals.userAgent));
}
