/**
 * Clearance: an HS256 JWT in a `__Host-` cookie that lifts a challenge no harder than the one that was solved for it.
 * Bound to the host and the visitor's network and user agent, so that a copied cookie is worth little. Phones change
 * their address family in the middle of a visit, so the same browser may add one network of the other family, with the
 * same ASN and country. The service's ledger decides which one, because isolates that decided alone would let a copied
 * cookie into one network each. The isolate remembers verified cookies, so that it checks each signature once.
 */
import { signCookieJwt, verifyCookieJwt } from '../../bytes/cookie-jwt.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import type { ClearanceFacts, ShownClearance } from '../../decide/visitor-facts.ts';
import { cookie } from '../../contract/edge/headers.ts';
import { challengeKinds } from '../../contract/vocabulary.ts';
import { BoundedMap, ownText } from '../../bytes/bounded-map.ts';
import { readOwnCookies } from '../request/cookies.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import { isFor, KNOWN_USER_AGENT_MAX_CHARS, type VerifiedFor } from './sessions.ts';
import type { Signals } from '../request/signals.ts';
import type { Asked } from '../feed/upstream.ts';

/** What was solved. */
export interface Solved extends ClearanceFacts {
  /** Of the challenge. */
  jti: string;
}

export interface ClearanceClaims extends Solved {
  /** Instance that issued it. */
  sub: string;
  host: string;
  /** Epoch seconds. */
  iat: number;
  exp: number;
  /** Between `exp` and this time, the clearance lifts only what a visitor without a session is asked for. Missing: it ends at `exp`. */
  until?: number;
  /** When the visitor's first one was issued, of which this is a successor. */
  since?: number;
  /** Bindings per address family; `null` until the family is learned. */
  v4: string | null;
  v6: string | null;
  /** Binding of the user agent alone. Missing from the cookies of older edges, which learn no other network. */
  agent?: string;
  asn: number | null;
  country: string | null;
}

export interface ClearanceReading extends Solved, ShownClearance {
  issuedAtMs: number;
  sinceMs: number;
  /** A cookie that also knows the other address family, to be set on the response. */
  learned: ClearanceClaims | null;
}

interface KnownClearance extends VerifiedFor {
  claims: ClearanceClaims;
}

const KNOWN_MAX = 8000;
const COOKIE_MAX_CHARS = 2048;
/** How long a clearance is good for the use of a browser that opens no session, so that it is challenged once a day. */
const DAY_SECONDS = 86_400;
/** Calls of an open page count this long after expiry, so that a form filled in meanwhile still works. */
const XHR_GRACE_SECONDS = 60;
/** Two isolates' clocks may differ by this much. */
const CLOCK_SKEW_SECONDS = 5;

/** A clearance that is shown from a network of the other address family. */
export interface OtherNetwork {
  jti: string;
  /** When the clearance was issued; epoch milliseconds. */
  bornAt: number;
  /** Binding of the network and the user agent. */
  network: string;
}

/** Asks the ledger for the network that the clearance has learned: the first it was asked about. */
export type LearnNetwork = (shown: OtherNetwork) => Promise<Asked<string>>;

export class Clearances {
  readonly #known = new BoundedMap<KnownClearance>(KNOWN_MAX);
  readonly #learn: LearnNetwork | null;
  /** jti → the binding of the other family's network, as the ledger said. */
  readonly #learned = new BoundedMap<string>(KNOWN_MAX);

  /** `null`: there is no ledger, so no clearance learns another network. */
  constructor(learn: LearnNetwork | null) {
    this.#learn = learn;
  }

  read(facts: RequestFacts, config: CompiledConfig): ClearanceReading | null | Promise<ClearanceReading | null> {
    const { headers, signals } = facts;
    const { clearance: token } = readOwnCookies(headers.cookie);
    if (token === null || token === '' || token.length > COOKIE_MAX_CHARS) return null;
    const known = this.#known.get(token);
    if (known !== undefined && isFor(known, signals, config)) {
      return isLive(known.claims, facts) ? readingOf(known.claims, facts) : null;
    }
    return this.#verify(token, facts, config);
  }

  async #verify(token: string, facts: RequestFacts, config: CompiledConfig): Promise<ClearanceReading | null> {
    const { signals } = facts;
    const claims = await verifyClearance(token, config);
    if (claims === null || !isLive(claims, facts)) return null;
    const binding = await visitorBinding(signals.ip, signals.userAgent);
    const family = addressFamily(signals.ip);
    const bound = claims[family];
    if (bound === binding) {
      const known = { claims, keyEpoch: config.keyEpoch, ip: signals.ip, userAgent: signals.userAgent };
      if (signals.userAgent.length <= KNOWN_USER_AGENT_MAX_CHARS) this.#known.set(ownText(token), known);
      return readingOf(claims, facts);
    }
    if (bound !== null || signals.ip === null || !isSameNetwork(claims, signals)) return null;
    if (claims.agent !== (await visitorBinding(null, signals.userAgent))) return null;
    const learned = await this.#learnedNetwork({ jti: claims.jti, bornAt: claims.iat * 1000, network: binding });
    return learned === binding ? readingOf(claims, facts, { ...claims, [family]: binding }) : null;
  }

  async #learnedNetwork(shown: OtherNetwork): Promise<string | null> {
    const known = this.#learned.get(shown.jti);
    if (known !== undefined) return known;
    const learned = await this.#learn?.(shown);
    if (!learned?.ok) return null;
    this.#learned.set(shown.jti, learned.value);
    return learned.value;
  }
}

function readingOf(
  claims: ClearanceClaims,
  facts: RequestFacts,
  learned: ClearanceClaims | null = null,
): ClearanceReading {
  const { jti, level, kind, powDifficulty, eased, iat, exp, since = iat } = claims;
  const times = { issuedAtMs: iat * 1000, sinceMs: since * 1000, isAged: !isBefore(exp, facts) };
  return { jti, level, kind, powDifficulty, eased, ...times, learned };
}

/** Claims for a visitor who has just solved a challenge. `before`: the clearance that they showed. */
export async function newClearance(
  config: CompiledConfig,
  { signals, target, nowMs }: RequestFacts,
  solved: Solved,
  before: ClearanceReading | null,
): Promise<ClearanceClaims> {
  const iat = Math.floor(nowMs / 1000);
  const binding = await visitorBinding(signals.ip, signals.userAgent);
  const family = addressFamily(signals.ip);
  const { jti, level, kind, powDifficulty, eased } = solved;
  return {
    sub: config.instanceId,
    host: target.host,
    jti,
    level,
    kind,
    powDifficulty,
    eased,
    iat,
    exp: iat + config.policy.clearanceSeconds,
    until: iat + DAY_SECONDS,
    since: before === null ? iat : Math.floor(before.sinceMs / 1000),
    v4: family === 'v4' ? binding : null,
    v6: family === 'v6' ? binding : null,
    agent: await visitorBinding(null, signals.userAgent),
    asn: signals.asn,
    country: signals.countryCode,
  };
}

/** The `Set-Cookie` value. `Lax`, so that a link from another site does not lead to a second challenge. */
export async function clearanceCookie(claims: ClearanceClaims, config: CompiledConfig, nowMs: number): Promise<string> {
  const { kid, clearance } = config.keys.current;
  const jwt = await signCookieJwt(claims, clearance, kid);
  const { exp, until = exp } = claims;
  const maxAgeSeconds = Math.max(1, until + XHR_GRACE_SECONDS - Math.floor(nowMs / 1000));
  return `${cookie.clearance}=${jwt}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=Lax`;
}

async function verifyClearance(token: string, config: CompiledConfig): Promise<ClearanceClaims | null> {
  try {
    const keyOf = (kid: string) => config.keys.byKid.get(kid)?.clearance ?? null;
    // `isLive` checks the times, with the grace for open pages.
    const claims = (await verifyCookieJwt(token, keyOf, config.instanceId, 0)) as unknown as ClearanceClaims;
    const complete =
      typeof claims.jti === 'string' &&
      Number.isInteger(claims.level) &&
      challengeKinds.includes(claims.kind) &&
      typeof claims.powDifficulty === 'number' &&
      typeof claims.exp === 'number' &&
      typeof claims.iat === 'number';
    return complete ? claims : null;
  } catch {
    // A cookie that does not verify is no clearance, whatever is wrong with it.
    return null;
  }
}

function isLive(claims: ClearanceClaims, facts: RequestFacts): boolean {
  const { target, nowMs } = facts;
  const { exp, until = exp, iat, host } = claims;
  return isBefore(until, facts) && iat <= nowMs / 1000 + CLOCK_SKEW_SECONDS && host === target.host;
}

function isBefore(endSeconds: number, { headers, nowMs }: RequestFacts): boolean {
  const isFromOpenPage = headers.fetchDest === 'empty';
  return nowMs / 1000 < endSeconds + (isFromOpenPage ? XHR_GRACE_SECONDS : 0);
}

function addressFamily(ip: string | null): 'v4' | 'v6' {
  return ip !== null && ip.includes(':') ? 'v6' : 'v4';
}

function isSameNetwork(claims: ClearanceClaims, signals: Signals): boolean {
  return (
    claims.asn !== null &&
    claims.asn === signals.asn &&
    claims.country !== null &&
    claims.country === signals.countryCode
  );
}
