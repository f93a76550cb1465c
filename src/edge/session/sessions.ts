/**
 * The session cookie at the edge: `{jti}|{jwt}`, set, renewed, and checked without a call to the service. The signature
 * is checked once per token and isolate; after that a request costs a map look-up and comparisons. The isolate keeps the
 * highest score it has seen for a jti, so that an older JWT of the same session with a lower score does not help.
 */
import { paidWorkOf, splitSessionCookie, type SessionClaims, verifySessionJwt } from '../../risk/session-token.ts';
import { type PaidWork, paceWindow } from '../../risk/pace.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import type { SessionStatus } from '../../contract/vocabulary.ts';
import type { VisitorSession } from '../../decide/visitor-facts.ts';
import { BoundedMap, ownText } from '../../bytes/bounded-map.ts';
import { readOwnCookies } from '../request/cookies.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RiskReading } from '../../risk/headers/request-risk.ts';
import type { Signals } from '../request/signals.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { EdgeSession } from '../../contract/edge/edge-responses.ts';
import { cookie, sessionRefusedTiming, workDueTiming } from '../../contract/edge/headers.ts';
import type { CanonicalTarget } from '../../decide/request-target.ts';
import type { WaitUntil } from '../../bytes/polled.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';

export interface SessionReading extends VisitorSession {
  jti: string | null;
  /** `detectorBits` of the score's parts. */
  detectors: number;
  /** JWT that should be renewed behind the response, or `null`. */
  refresh: string | null;
  /** What its browser has worked for. `null`: there is no session, or it is not metered. */
  paid: PaidWork | null;
}

/** Whom a cookie was last verified for: most have only one visitor. For any other it is verified again. */
export interface VerifiedFor {
  /** Keys the signature was checked with. After a rotation every cookie is verified again. */
  keyEpoch: string;
  ip: string | null;
  userAgent: string;
}

export function isFor(known: VerifiedFor, { ip, userAgent }: Signals, { keyEpoch }: CompiledConfig): boolean {
  return known.ip === ip && known.userAgent === userAgent && known.keyEpoch === keyEpoch;
}

interface KnownSession extends VerifiedFor {
  claims: SessionClaims;
  jwt: string;
}

/** About 1 kB each: the sessions one isolate serves within a JWT's five minutes. */
const KNOWN_SESSIONS_MAX = 8000;
/** A longer user agent is not remembered: its signature is checked each time and takes no memory. */
export const KNOWN_USER_AGENT_MAX_CHARS = 1024;
const SCORES_MAX = 20_000;
/** Only cookies of the right shape cost one. */
const SIGNATURES_MAX = 16;
const SESSION_COOKIE_MAX_CHARS = 4096;
/**
 * How long a JWT outlives its five minutes while the service, which would renew it, is away. Its score is old by then,
 * so this ends as well.
 */
const OUTAGE_GRACE_SECONDS = 3600;
/** A JWT is renewed in its last two minutes, so that an active visitor never has an expired one. */
const REFRESH_BEFORE_EXPIRY_SECONDS = 120;

const OFF: SessionReading = { status: 'off', jti: null, riskScore: null, detectors: 0, refresh: null, paid: null };
const NONE: SessionReading = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null, paid: null };
const INVALID: SessionReading = {
  status: 'invalid-session',
  jti: null,
  riskScore: null,
  detectors: 0,
  refresh: null,
  paid: null,
};

export class Sessions {
  readonly #known = new BoundedMap<KnownSession>(KNOWN_SESSIONS_MAX);
  readonly #highestScore = new BoundedMap<RiskReading>(SCORES_MAX);
  readonly #isServiceAway: () => boolean;

  constructor(isServiceAway: () => boolean) {
    this.#isServiceAway = isServiceAway;
  }

  /** Synchronous for a token this isolate knows; a promise only where a signature must be checked. */
  read(
    cookieHeader: string | null,
    config: CompiledConfig,
    signals: Signals,
    nowMs: number,
  ): SessionReading | Promise<SessionReading> {
    if (!config.policy.sessionsEnabled) return OFF;
    const { sessions: values } = readOwnCookies(cookieHeader);
    if (values.length > 1) return this.#readAny(values, config, signals, nowMs);
    return values.length === 0 ? NONE : this.#readOne(values[0]!, config, signals, nowMs);
  }

  /** The first good one. An older cookie set for the host alone must not hide it. */
  async #readAny(
    values: readonly string[],
    config: CompiledConfig,
    signals: Signals,
    nowMs: number,
  ): Promise<SessionReading> {
    let found = INVALID;
    let checked = 0;
    for (const value of values) {
      const read = this.#readOne(value, config, signals, nowMs);
      const reading = await read;
      if (reading.status === 'active') return reading;
      if (reading.jti !== null) found = reading;
      if (read instanceof Promise && ++checked === SIGNATURES_MAX) break;
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
    // Remembered as decoded, so that all spellings of one good cookie share an entry.
    const value = text.includes('%') ? decoded(text) : text;
    const known = this.#known.get(value);
    if (known !== undefined && isFor(known, signals, config)) return this.#judge(known, config, nowMs);
    return splitSessionCookie(value)?.jwt ? this.#verify(value, config, signals, nowMs) : INVALID;
  }

  async #verify(text: string, config: CompiledConfig, signals: Signals, nowMs: number): Promise<SessionReading> {
    const value = ownText(text);
    const parts = splitSessionCookie(value);
    if (!parts?.jwt) return INVALID;
    const signed = await verifySessionJwt(parts.jwt, config.sessionKeyOf, config.instanceId, nowMs, true);
    if (!signed.ok || signed.value.jti !== parts.jti) return INVALID;
    const claims = signed.value;
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
    // Its data was erased: nothing more is recorded under its id.
    if (config.withdrawnJtis.has(jti)) return { ...NONE, status: 'session-not-found' };
    const graceSeconds = nowSeconds >= claims.exp && this.#isServiceAway() ? OUTAGE_GRACE_SECONDS : 0;
    if (nowSeconds >= claims.exp + graceSeconds || nowSeconds >= claims.sxp) {
      // The JWT has expired but the session has not: it is renewed behind this response.
      return { ...NONE, status: 'session-not-found', jti, refresh: nowSeconds < claims.sxp ? jwt : null };
    }
    let risk: RiskReading = { score: claims.risk, detectors: claims.det ?? 0 };
    const highest = this.#highestScore.get(jti);
    if (highest !== undefined && highest.score > risk.score) risk = highest;
    const raised = config.raisedScores.get(jti);
    // One with the same score has detectors that weigh nothing.
    if (raised !== undefined && raised.score >= risk.score) risk = raised;
    const refresh = claims.exp - nowSeconds < REFRESH_BEFORE_EXPIRY_SECONDS ? jwt : null;
    let paid = claims.pac === undefined ? null : paidWorkOf(claims.pac);
    // Without the service, nobody can renew the JWT or work for more.
    if (paid !== null && nowSeconds >= claims.exp) paid = { ...paid, advanced: paceWindow(nowMs) };
    return { status: 'active', jti, riskScore: risk.score, detectors: risk.detectors, refresh, paid };
  }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Readable by script: the protect script checks whether there is a session. */
export function sessionCookie(session: EdgeSession, target: CanonicalTarget, nowMs: number): string {
  const maxAgeSeconds = Math.max(1, Math.floor((session.expiresAt - nowMs) / 1000));
  const host = target.host.toLowerCase().replace(/:\d+$/, '');
  const wanted = session.cookieDomain ?? '';
  // A browser discards a cookie whose domain does not contain the host.
  const domain = wanted !== '' && (host === wanted || host.endsWith(`.${wanted}`)) ? `; Domain=${wanted}` : '';
  const secure = target.scheme === 'https' ? '; Secure' : '';
  return `${cookie.session}=${session.jti}|${session.jwt}; Path=/; Max-Age=${maxAgeSeconds}; SameSite=Lax${domain}${secure}`;
}

/** Removes a cookie that was set for the host alone, which would hide the one for its domain. */
export const REMOVE_HOST_SESSION = `${cookie.session}=; Path=/; Max-Age=0; SameSite=Lax`;

/** Such a page is about this visitor: no cache may keep it. */
export function tellRefusedSession(headers: Headers, status: SessionStatus): void {
  if (status !== 'invalid-session' && status !== 'session-not-found') return;
  headers.append('server-timing', sessionRefusedTiming);
  headers.set('cache-control', 'private, no-store');
}

/** Tells the page's script to work for more. Read from a navigation's timing and from the headers of calls. */
export function tellWorkDue(headers: Headers, { isWorkDue }: { isWorkDue: boolean }): void {
  // What a cache keeps would tell it to others.
  if (isWorkDue && !KEPT.test(headers.get('cache-control') ?? '')) headers.append('server-timing', workDueTiming);
}

const KEPT = /public|s-maxage|immutable/i;

const PENDING_MAX = 4000;
const RENEW_TIMEOUT_MS = 5000;
/**
 * The same session is not renewed again before this. Otherwise every request would call a service that fails, and a script
 * with a thousand old JWTs of one session would make a thousand calls.
 */
const RETRY_AFTER_MS = 15_000;

/**
 * Renews a session's JWT behind the response. It asks in the JWT's last minutes and hands the new one to the visitor
 * with a later response. A failed renewal costs nothing: the protect script opens a new session.
 */
export class SessionRenewals {
  readonly #service: Pick<ServiceClient, 'session'>;
  readonly #count: Count;
  /** Session id → when a renewal was asked for. */
  readonly #askedAtMs = new BoundedMap<number>(PENDING_MAX);
  /** Expiring JWT → its successor. `null`: the visitor's page has got another one. */
  readonly #successors = new BoundedMap<EdgeSession | null>(PENDING_MAX);

  constructor(service: Pick<ServiceClient, 'session'>, count: Count) {
    this.#service = service;
    this.#count = count;
  }

  /** The successor where there is one. Else starts a renewal in `waitUntil`, unless one was started lately. */
  successorOf(
    { jti, jwt }: { jti: string; jwt: string },
    visitor: () => EdgeVisitor,
    nowMs: number,
    waitUntil: WaitUntil,
  ): EdgeSession | null {
    const known = this.#successors.get(jwt);
    if (known !== undefined) return known;
    const askedAtMs = this.#askedAtMs.get(jti);
    if (askedAtMs !== undefined && nowMs - askedAtMs < RETRY_AFTER_MS) return null;
    this.#askedAtMs.set(jti, nowMs);
    waitUntil(this.#renew(jwt, visitor()));
    return null;
  }

  /**
   * The visitor's page has got another JWT in place of this one, with the work that it has done since. A response to an
   * older request must not set the cookie back to what was renewed without that work.
   */
  replaced(jwt: string): void {
    this.#successors.set(jwt, null);
  }

  async #renew(jwt: string, visitor: EdgeVisitor): Promise<void> {
    const renewed = await this.#service.session(visitor, jwt, RENEW_TIMEOUT_MS);
    if (!renewed.ok) this.#count('session_refresh_failures');
    else if (this.#successors.get(jwt) !== null) this.#successors.set(jwt, renewed.value);
  }
}
