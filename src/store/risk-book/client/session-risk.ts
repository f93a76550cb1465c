/**
 * The risk of a session, for the service's endpoints. Each event goes to the session's book. A score that rose to the
 * challenge threshold is listed for the edges until every JWT with the old score has expired.
 */
import { SESSION_JWT_SECONDS } from '../../../risk/session-token.ts';
import { addressPrefix, neighboursOf, ownAddress } from '../../../address/networks.ts';
import type { EdgeVisitor } from '../../../contract/edge/edge-api.ts';
import { hasDetector, riskDetectors } from '../../../contract/edge/risk-detectors.ts';
import type { TelemetryReport } from '../../../contract/edge/page-reports.ts';
import type { JudgedReport } from '../../../risk/environment/environment-findings.ts';
import { NO_LINEAGE, type SessionState, type SessionVisitor } from '../../../risk/session-state.ts';
import type { StoredInstance } from '../../d1/instances.ts';
import type { OpenedScore, RenewedSession, RescoredSession, SessionEvent, SessionTerms } from '../rpc.ts';
import { allBooks, listBook, sessionBook } from './session-books.ts';

type RiskBookEnv = Pick<ServiceEnv, 'RISK_BOOK' | 'JURISDICTION'>;

/** Lifetime of a JWT, plus the clock difference of two Workers. */
const LISTED_MS = (SESSION_JWT_SECONDS + 10) * 1000;
const DAY_MS = 86_400_000;

/**
 * Opens the session `jti`, once; `opening` is the SHA-256 of what opens it. Opened by the same again it stays as it is.
 * `formerJti`: the session of the cookie that the visitor sent from another network or browser. `null`: the session was
 * ended, or opened by something else.
 */
export async function openRisk(
  env: RiskBookEnv,
  instance: StoredInstance,
  { jti, opening, report }: { jti: string; opening: string; report: JudgedReport },
  visitor: EdgeVisitor,
  nowMs: number,
  formerJti: string | null,
): Promise<OpenedScore | null> {
  const who = sessionVisitor(visitor);
  const expiresAt = (Math.floor(nowMs / 1000) + instance.jtiExpirySeconds) * 1000;
  const lineage =
    formerJti === null ? NO_LINEAGE : await sessionBook(env, instance.id, formerJti).lineage(formerJti, who);
  const terms = termsOf(instance, jti, who, { nowMs, expiresAt }, report);
  return sessionBook(env, instance.id, jti).open(terms, opening, lineage);
}

/** `worked`: the window of its last piece of work. `null`: the session was ended. */
export async function renewRisk(
  env: RiskBookEnv,
  instance: StoredInstance,
  jti: string,
  visitor: EdgeVisitor,
  times: { nowMs: number; expiresAt: number; worked?: number },
): Promise<RenewedSession | null> {
  const book = sessionBook(env, instance.id, jti);
  const risk = await book.renew(termsOf(instance, jti, sessionVisitor(visitor), times, null));
  await listIfRaised(env, instance, jti, risk, times.nowMs);
  return risk;
}

/** An erased session takes no report. `reports`: how many it has; 0 where its book no longer knows it. */
export async function reportRisk(
  env: RiskBookEnv,
  instance: StoredInstance,
  jti: string,
  report: TelemetryReport,
  nowMs: number,
): Promise<{ outcome: 'accepted' | 'implausible' | 'ended'; reports: number }> {
  const risk = await sessionBook(env, instance.id, jti).report(eventOf(instance, jti, nowMs), report);
  if (risk === 'ended') return { outcome: 'ended', reports: 0 };
  await listIfRaised(env, instance, jti, risk, nowMs);
  return { outcome: risk?.isImplausible ? 'implausible' : 'accepted', reports: risk?.reports ?? 0 };
}

export async function crowdRisk(
  env: RiskBookEnv,
  instance: StoredInstance,
  jti: string,
  requests: number,
  nowMs: number,
): Promise<void> {
  const risk = await sessionBook(env, instance.id, jti).crowd(eventOf(instance, jti, nowMs), requests);
  await listIfRaised(env, instance, jti, risk, nowMs);
}

export function readRisk(env: RiskBookEnv, instanceId: string, jti: string): Promise<SessionState | null> {
  return sessionBook(env, instanceId, jti).read(jti);
}

/** Ends a session: its data is deleted, its JWTs are refused, and none is renewed. */
export async function endSession(
  env: RiskBookEnv,
  instance: StoredInstance,
  jti: string,
  nowMs: number,
): Promise<boolean> {
  const known = await sessionBook(env, instance.id, jti).end(jti, nowMs + instance.jtiExpirySeconds * 1000);
  await listBook(env, instance.id).withdraw(jti, nowMs + LISTED_MS);
  return known;
}

/** Erases every session of a deleted instance a minute from now; idempotent. */
export async function retireRisk(env: RiskBookEnv, instanceId: string, nowMs: number): Promise<void> {
  await Promise.all(allBooks(env, instanceId).map((book) => book.retire(nowMs)));
}

/**
 * A score below the threshold changes no verdict. It travels with the next JWT, and the edges' config stays the same. That
 * an agent is suspected can change one at any score.
 */
async function listIfRaised(
  env: RiskBookEnv,
  instance: StoredInstance,
  jti: string,
  risk: RescoredSession | null,
  nowMs: number,
): Promise<void> {
  if (risk === null) return;
  const { score, detectors, before } = risk;
  const hasRisen = score > before.score && score >= instance.challengeThreshold;
  if (!hasRisen && (!isAgent(detectors) || isAgent(before.detectors))) return;
  await listBook(env, instance.id).raise({ jti, score, detectors }, nowMs + LISTED_MS);
}

const AGENT_PLACE = riskDetectors.indexOf('suspected-agent');
const isAgent = (detectors: number): boolean => hasDetector(detectors, AGENT_PLACE);

function termsOf(
  instance: StoredInstance,
  jti: string,
  visitor: SessionVisitor,
  { nowMs, expiresAt, worked = 0 }: { nowMs: number; expiresAt: number; worked?: number },
  environment: JudgedReport | null,
): SessionTerms {
  const keptUntil = expiresAt + instance.retentionDays * DAY_MS;
  const { cookieCycling: cycling, jtiExpirySeconds } = instance;
  const openedAt = Math.min(nowMs, expiresAt - jtiExpirySeconds * 1000);
  const neighbours = { near: ownAddress(visitor.ip), around: neighboursOf(visitor.ip).near };
  return {
    ...eventOf(instance, jti, nowMs),
    visitor,
    neighbours,
    environment,
    openedAt,
    expiresAt,
    keptUntil,
    worked,
    cycling,
  };
}

function eventOf({ ignoredDetectors }: StoredInstance, jti: string, nowMs: number): SessionEvent {
  return { jti, nowMs, ignoredDetectors };
}

function sessionVisitor({ userAgent, ip, ipCategories, headers }: EdgeVisitor): SessionVisitor {
  return { userAgent, ip, network: addressPrefix(ip), categories: ipCategories, headers: headers ?? null };
}
