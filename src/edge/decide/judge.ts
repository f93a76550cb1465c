/**
 * Judges a request. What is known of it, of its visitor and of the rules goes in; its verdict comes out, with what the
 * verdict asks the gate to do. Pure: it changes nothing and waits for nothing.
 */
import { protectPrefix } from '../../contract/edge/headers.ts';
import { NO_OUTCOME } from '../../policies/outcome.ts';
import { claimedBrowser } from '../../risk/headers/claimed-browser.ts';
import type { Ruleset } from '../../rules/ruleset.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { PathPolicy } from '../../decide/path-policy.ts';
import type { RiskReading } from '../../risk/headers/request-risk.ts';
import { isHeldToPace } from '../../decide/pace-limit.ts';
import { isMetered, type PaceSettings, unitsOf } from '../../risk/pace.ts';
import { type Cleared, NOT_PACED, type PaceFound } from '../limits/pace.ts';
import { askedFor, type PendingKind } from '../limits/pending-budget.ts';
import type { RequestFacts } from '../request/facts.ts';
import { type HeaderFacts, isOfPage } from '../request/header-facts.ts';
import type { SessionReading } from '../session/sessions.ts';
import { type HeldReturn, type JudgedContext, unjudged } from './context.ts';
import type { KnownVisitor } from './known-visitor.ts';
import { isBudgeted } from '../../decide/policy-input.ts';
import { liftsLimits, type Verdict, type VerdictInputs, verdictOf } from '../../decide/verdict.ts';
import { botAndAgent, type PolicyRequest } from '../../policies/request.ts';
import { hostName } from '../../address/host-name.ts';

export interface Judging {
  facts: RequestFacts;
  config: CompiledConfig;
  /** What the path rules say of the request's path. */
  path: PathPolicy;
  ruleset: { version: number } & Pick<Ruleset, 'match'>;
  visitor: KnownVisitor;
  held: HeldReturn | null;
  /** Whether the visitor's network has room in its budget for one more request without a session. */
  hasRoom: (kind: PendingKind) => boolean;
  paceOf: (session: SessionReading, clearance: Cleared | null) => PaceFound;
}

export function judge(judging: Judging): JudgedContext {
  const { facts, config, ruleset, visitor, held, hasRoom, paceOf } = judging;
  const { headers, signals, target, nowMs } = facts;
  const { bot, session, clearance } = visitor;
  const { policy, policies } = config;
  const { method } = headers;
  const risk = riskOf(facts, config, session);
  const said =
    policies.size === 0
      ? NO_OUTCOME
      : policies.evaluate(policyRequest(facts, { path: judging.path, bot, session, risk }));
  const path = said.skipSession ? { ...judging.path, waiveSession: true } : judging.path;
  const isOwn = target.path.startsWith(protectPrefix);
  const preflight = isPreflight(facts);
  const isPaced = !isOwn && isHeldToPace({ path, bot, preflight });
  const found = isPaced ? paceOf(session, clearance) : NOT_PACED;
  const { reading, payers, callWeight = reading?.callWeight } = found;
  const isSpent = payers === null && reading?.state === 'spent';
  const budgeted = { policy, path, method, session: isSpent ? NO_SESSION : session, bot };
  const isCounted = !isOwn && isBudgeted(budgeted) && !config.isPendingExempt(signals.ip);
  const kind = isCounted ? askedFor(headers) : null;
  const hasPendingRoom = kind === null || hasRoom(kind);
  // A session that was left before its page could work has the pages that a visitor without one has.
  const isAsWithout = isSpent && kind !== null && kind !== 'file' && hasPendingRoom;
  const units = unitsAsked(headers, path, policy.pace, callWeight);
  const inputs: VerdictInputs = {
    policy,
    site: config.site,
    path,
    method,
    hasPendingRoom,
    preflight,
    ofPage: isOwn || isOfPage(headers),
    signals,
    bot,
    botAction: bot === null ? 'inherit' : config.botAction(bot, target),
    match: ruleset.match(signals, Math.floor(nowMs / 1000)),
    session,
    risk,
    detectorNames: config.detectorNames,
    clearance: payers === null ? null : clearance,
    policies: said,
    // What is asked for as a file is judged by the response.
    pace: units === 0 || isAsWithout ? null : reading,
  };
  const verdict = verdictOf(inputs);
  return {
    ...unjudged(facts, { held, clearance, origin: said.origin, rulesetVersion: ruleset.version }),
    isJudged: true,
    config,
    path,
    verdict,
    jti: session.jti ?? clearance?.jti ?? null,
    limits: said.limits.length === 0 ? null : { names: said.limits, inputs },
    effects: {
      pending: verdict.takesPending || (isAsWithout && isPassed(verdict, inputs)) ? kind : null,
      renewal: session.refresh,
      learned: clearance?.learned ?? null,
      pace:
        usesPace(session, payers) && !liftsLimits(inputs) ? { units, payers: payers ?? [], session, clearance } : null,
      isWorkDue: reading?.isWorkDue === true,
    },
  };
}

const NO_SESSION = { status: 'none', riskScore: null } as const;

/** Whether a request is allowed, but not by a rule that lifts limits: such a request takes nothing from the pace. */
function isPassed({ decision }: Pick<Verdict, 'decision'>, inputs: VerdictInputs): boolean {
  return decision === 'allow' && !liftsLimits(inputs);
}

/** A visitor with neither a session nor a clearance has the budget of their network instead. */
function usesPace(session: SessionReading, payers: readonly string[] | null): boolean {
  return payers === null ? session.status === 'active' : payers.length > 0;
}

const FILE_DESTINATION = /^(?:image|style|script|font|audio|video|track|manifest)$/;

/** Units of a page or of a call; 0: it asks for a file, and uses what the response turns out to be. */
function unitsAsked(
  headers: HeaderFacts,
  { pathType }: PathPolicy,
  pace: PaceSettings,
  callWeight: number | undefined,
): number {
  if (!isMetered(pace)) return 0;
  const isPage = pathType === 'html' && askedFor(headers) !== 'file';
  if (isPage) return unitsOf('html', pace);
  const isReading = headers.method === 'GET' || headers.method === 'HEAD';
  const mayBeFile = pathType === 'html' || FILE_DESTINATION.test(headers.fetchDest ?? '');
  return isReading && mayBeFile ? 0 : unitsOf('json', pace, callWeight);
}

/** A CORS preflight as the Fetch standard defines it. Any other `OPTIONS` is a request like the rest. */
function isPreflight({ headers: { method }, request: { headers } }: RequestFacts): boolean {
  return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');
}

/** What the session is known for, and what this request shows by itself. */
function riskOf(
  { headers, signals }: RequestFacts,
  config: CompiledConfig,
  session: SessionReading,
): RiskReading | null {
  const { userAgent, ja4, ipCategories: categories } = signals;
  const known = session.riskScore === null ? null : { score: session.riskScore, detectors: session.detectors };
  return config.requestRisk({ userAgent, claim: claimedBrowser(userAgent), headers, categories, ja4 }, known);
}

/** What the instance's policies see of a request. The texts that a visitor wrote are parsed only if a policy asks. */
export function policyRequest(
  { request, headers, target, signals }: RequestFacts,
  known: Pick<VerdictInputs, 'path' | 'bot' | 'session' | 'risk'>,
): PolicyRequest {
  return {
    host: hostName(target.host),
    method: headers.method,
    paths: target.readings && [target.path, ...target.readings],
    query: target.query,
    headers: request.headers,
    cookie: headers.cookie,
    ip: signals.ip,
    asn: signals.asn,
    country: signals.countryCode,
    ja4: signals.ja4,
    userAgent: signals.userAgent,
    deviceType: signals.deviceType,
    ...botAndAgent(known.bot),
    ipCategories: signals.ipCategories,
    sessionStatus: known.session.status,
    riskScore: known.risk?.score ?? null,
    pathType: known.path.pathType,
  };
}
