/**
 * Judges a request: session and clearance cookies, rule match and policy go in, a context with its verdict comes out.
 * Synchronous except where a cookie's signature has to be checked for the first time.
 */
import { protectPrefix } from '../../contract/edge/headers.ts';
import { claimedBrowser } from '../../risk/headers/claimed-browser.ts';
import type { Ruleset } from '../../rules/ruleset.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RiskReading } from '../config/request-risk.ts';
import type { PathPolicy } from '../config/path-policy.ts';
import { askedFor } from '../pending/page-or-file.ts';
import type { PendingBudget } from '../pending/pending-budget.ts';
import type { RequestFacts } from '../request/facts.ts';
import { isOfPage } from '../request/header-facts.ts';
import { clearanceCookie } from '../session/clearances.ts';
import type { Clearances } from '../session/clearances.ts';
import { sessionCookie } from '../session/set-session-cookie.ts';
import type { SessionRenewals } from '../session/session-renewals.ts';
import type { SessionReading, Sessions } from '../session/check-session.ts';
import { sessionVisitorOf } from '../session/visitor.ts';
import type { BotReader } from './bot-reader.ts';
import type { HeldReturn, JudgedContext } from './context.ts';
import { NO_OUTCOME } from '../../policies/outcome.ts';
import { isBudgeted } from './policy-input.ts';
import { policyRequest } from './policy-request.ts';
import { verdictOf } from './verdict.ts';
import type { RulesetText, VerdictInputs } from './verdict.ts';

export interface JudgePorts {
  bots: BotReader;
  pending: PendingBudget;
  sessions: Sessions;
  clearances: Clearances;
  renewals: SessionRenewals;
}

export interface Judging {
  facts: RequestFacts;
  config: CompiledConfig;
  path: PathPolicy;
  ruleset: RulesetText & Pick<Ruleset, 'match'>;
  held: HeldReturn | null;
}

export async function judge(
  { facts, config, path: pathPolicy, ruleset, held }: Judging,
  { bots, sessions, clearances, renewals, pending: budget }: JudgePorts,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<JudgedContext> {
  const { headers, signals, target, nowMs } = facts;
  const named = bots.read(facts, waitUntil, config.policy.botPolicy.signatures.nonce === 'once');
  const bot = named instanceof Promise ? await named : named;
  const reading = sessions.read(headers.cookie, config, signals, nowMs);
  const session = reading instanceof Promise ? await reading : reading;
  const shown = clearances.read(facts, config);
  const clearance = shown instanceof Promise ? await shown : shown;
  const { policy } = config;
  const { method } = headers;
  const risk = riskOf(facts, config, session);
  const { policies } = config;
  const said =
    policies.size === 0
      ? NO_OUTCOME
      : policies.evaluate(policyRequest(facts, { path: pathPolicy, bot, session, risk }));
  const path = said.skipSession ? { ...pathPolicy, waiveSession: true } : pathPolicy;
  const isOwn = target.path.startsWith(protectPrefix);
  const counts = isBudgeted({ policy, path, method, session, bot }) && !isOwn;
  const kind = counts && !config.isPendingExempt(signals.ip) ? askedFor(headers) : null;
  const inputs: VerdictInputs = {
    policy,
    site: config.site,
    path,
    method,
    hasPendingRoom: kind === null || budget.hasRoom(kind, signals.ip, policy.pendingBudget, nowMs),
    preflight: isPreflight(facts),
    ofPage: isOwn || isOfPage(headers),
    signals,
    bot,
    botAction: bot === null ? 'inherit' : config.botAction(bot, target),
    match: ruleset.match(signals, Math.floor(nowMs / 1000)),
    ruleset,
    session,
    risk,
    detectorNames: config.detectorNames,
    clearance,
    policies: said,
  };
  const verdict = verdictOf(inputs);

  const pending = verdict.takesPending ? kind : null;
  if (pending !== null) budget.take(pending, signals.ip, nowMs);

  const cookies: string[] = [];
  if (session.refresh !== null) {
    const visitor = () => sessionVisitorOf(facts, verdict.riskScore);
    const successor = renewals.successorOf(session.refresh, visitor, nowMs, waitUntil);
    if (successor) cookies.push(sessionCookie(successor, facts.target, nowMs));
  }
  const learned = clearance?.learned;
  return {
    isJudged: true,
    facts,
    config,
    path,
    rulesetVersion: ruleset.version,
    verdict,
    clearance,
    jti: session.jti ?? clearance?.jti ?? null,
    held,
    pending,
    origin: said.origin,
    cookies,
    limits: said.limits.length === 0 ? null : { names: said.limits, inputs },
    learnedCookie: learned ? () => clearanceCookie(learned, config, nowMs) : null,
  };
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
