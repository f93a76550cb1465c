/**
 * The session cookie at the edge (design 6): `{jti}|{jwt}`, checked without a look-up. The signature
 * is paid once per token and isolate; after that a request costs a map look-up and comparisons. The
 * highest score seen for a jti stays, so that an older, kinder JWT of the same session is no way out.
 */
import { splitSessionCookie, verifySessionJwt } from '../../risk/session-token.ts';
import type { SessionClaims } from '../../risk/session-token.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import { cookie } from '../../contract/edge/headers.ts';
import type { SessionStatus } from '../../contract/vocabulary.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { readCookies } from '../request/cookies.ts';
import { ownText } from '../../bytes/own-text.ts';
import type { CompiledConfig } from '../feed/compiled-config.ts';
import type { Signals } from '../request/signals.ts';

export interface SessionReading {
  status: Extract<SessionStatus, 'active' | 'none' | 'invalid-session' | 'session-not-found' | 'off'>;
  jti: string | null;
  riskScore: number | null;
  /** `detectorBits` of the score's parts. */
  detectors: number;
  /** JWT that should be renewed behind the response, or `null`. */
  refresh: string | null;
}

export interface RiskReading {
  score: number;
  detectors: number;
}

interface KnownSession {
  claims: SessionClaims;
  jwt: string;
  /** Keys the signature was checked with; a rotation makes every session prove itself anew. */
  keyEpoch: string;
  /** The visitor the binding was last found to fit; most sessions have one for life. */
  ip: string | null;
  userAgent: string;
}

/** About 1 kB each: the sessions one isolate serves within a JWT's five minutes. */
const KNOWN_SESSIONS_MAX = 8000;
/** Whoever sends a longer one pays for the signature each time, and not with this isolate's memory. */
export const KNOWN_USER_AGENT_MAX_CHARS = 1024;
const SCORES_MAX = 20_000;
/** One for the host, one for its domain, one for the domain above. */
const SAME_NAME_MAX = 3;
const SESSION_COOKIE_MAX_CHARS = 4096;
/** A JWT is renewed in its last two minutes, so that an active visitor never meets an expired one. */
const REFRESH_BEFORE_EXPIRY_SECONDS = 120;

const OFF: SessionReading = { status: 'off', jti: null, riskScore: null, detectors: 0, refresh: null };
const NONE: SessionReading = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null };
const INVALID: SessionReading = { status: 'invalid-session', jti: null, riskScore: null, detectors: 0, refresh: null };

export class Sessions {
  readonly #known = new BoundedMap<KnownSession>(KNOWN_SESSIONS_MAX);
  readonly #highestScore = new BoundedMap<RiskReading>(SCORES_MAX);

  /** Answers at once for a token this isolate knows; a promise only where a signature must be checked. */
  read(
    cookieHeader: string | null,
    config: CompiledConfig,
    signals: Signals,
    nowMs: number,
  ): SessionReading | Promise<SessionReading> {
    if (!config.policy.sessionsEnabled) return OFF;
    const values = readCookies(cookieHeader, cookie.session, SAME_NAME_MAX);
    if (values.length > 1) return this.#readAny(values, config, signals, nowMs);
    return values.length === 0 ? NONE : this.#readOne(values[0]!, config, signals, nowMs);
  }

  /** The first that is good: an older one, set for the host alone, must not stand before it for ever. */
  async #readAny(
    values: readonly string[],
    config: CompiledConfig,
    signals: Signals,
    nowMs: number,
  ): Promise<SessionReading> {
    let found = INVALID;
    for (const value of values) {
      // Three at most, and mostly known already.
      const reading = await this.#readOne(value, config, signals, nowMs);
      if (reading.status === 'active') return reading;
      if (reading.jti !== null) found = reading;
    }
    return found;
  }

  #readOne(
    text: string,
    config: CompiledConfig,
    signals: Signals,
    nowMs: number,
  ): SessionReading | Promise<SessionReading> {
    if (text === '') return NONE;
    if (text.length > SESSION_COOKIE_MAX_CHARS) return INVALID;
    // Remembered as decoded: the many spellings of one good cookie are one entry.
    const value = text.includes('%') ? decoded(text) : text;
    const known = this.#known.get(value);
    if (
      known !== undefined &&
      known.ip === signals.ip &&
      known.userAgent === signals.userAgent &&
      known.keyEpoch === config.keyEpoch
    ) {
      return this.#judge(known, config, nowMs);
    }
    return this.#verify(value, config, signals, nowMs);
  }

  async #verify(text: string, config: CompiledConfig, signals: Signals, nowMs: number): Promise<SessionReading> {
    const value = ownText(text);
    const parts = splitSessionCookie(value);
    if (!parts?.jwt) return INVALID;
    const claims = await verifySessionJwt(parts.jwt, config.sessionKeyOf, config.instanceId, nowMs, true);
    if (typeof claims === 'string' || claims.jti !== parts.jti) return INVALID;
    const binding = await visitorBinding(signals.ip, signals.userAgent);
    if (binding !== claims.bnd) return INVALID;
    const known: KnownSession = {
      claims,
      jwt: parts.jwt,
      keyEpoch: config.keyEpoch,
      ip: signals.ip,
      userAgent: signals.userAgent,
    };
    if (signals.userAgent.length <= KNOWN_USER_AGENT_MAX_CHARS) this.#known.set(value, known);
    const highest = this.#highestScore.get(claims.jti);
    if (highest === undefined || claims.risk >= highest.score) {
      this.#highestScore.set(claims.jti, { score: claims.risk, detectors: claims.det ?? 0 });
    }
    return this.#judge(known, config, nowMs);
  }

  #judge({ claims, jwt }: KnownSession, config: CompiledConfig, nowMs: number): SessionReading {
    const { jti } = claims;
    const nowSeconds = nowMs / 1000;
    // Its data was erased: nothing more is filed under its id.
    if (config.withdrawnJtis.has(jti)) return { ...NONE, status: 'session-not-found' };
    if (nowSeconds >= claims.exp || nowSeconds >= claims.sxp) {
      // An expired JWT of a session that is not over is renewed behind this very answer.
      return { ...NONE, status: 'session-not-found', jti, refresh: nowSeconds < claims.sxp ? jwt : null };
    }
    let risk: RiskReading = { score: claims.risk, detectors: claims.det ?? 0 };
    const highest = this.#highestScore.get(jti);
    if (highest !== undefined && highest.score > risk.score) risk = highest;
    const raised = config.raisedScores.get(jti);
    if (raised !== undefined && raised.score > risk.score) risk = raised;
    const refresh = claims.exp - nowSeconds < REFRESH_BEFORE_EXPIRY_SECONDS ? jwt : null;
    return { status: 'active', jti, riskScore: risk.score, detectors: risk.detectors, refresh };
  }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
