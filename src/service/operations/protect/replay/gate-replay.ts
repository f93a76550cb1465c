/**
 * One logged request through the gate of now, or through the gate as it would be after a change. The verdict is made by
 * the edge's own function (`verdictOf`), so that a preview says what the gate would do. What the log does not keep is
 * handled in one place, here:
 *
 * - Headers, cookies and the query are unknown. Policies that depend on one are tried in every combination.
 * - What lifted a challenge then (a clearance, a verified form) lifts it again, up to the level that the record names. A
 *   clearance that stood for a session stands for it again.
 * - Whether a network's budget had room is known where it decided. Elsewhere it is taken to have room.
 * - A request that was above a limit is above it again, as long as a policy still sends the request to it. What this means
 *   is said by the limit as it is in the policy set: its answer, and whether it is enforced.
 *
 * Pure.
 */
import { type BotSignal, botSignal } from '../../../../bots/bot-proof.ts';
import type { BotTable } from '../../../../bots/open-bot-table.ts';
import { hostName } from '../../../../address/host-name.ts';
import { POW_DIFFICULTY_MAX } from '../../../../captcha/plan/level-prices.ts';
import { riskDetectors } from '../../../../contract/edge/risk-detectors.ts';
import { protectPrefix } from '../../../../contract/edge/headers.ts';
import type { EdgeConfig } from '../../../../contract/edge/edge-responses.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { PolicySet } from '../../../../contract/management/policy-set/policy-set.ts';
import type { PolicyAction } from '../../../../contract/management/policy-set/policy.ts';
import type { Decision, SessionStatus } from '../../../../contract/vocabulary.ts';
import { type BotActionFor, compileBotPolicy } from '../../../../decide/bot-action.ts';
import { compilePathPolicy, type PathPolicyFor } from '../../../../decide/path-policy.ts';
import { isMetered } from '../../../../risk/pace.ts';
import { recordedPace } from '../../../../decide/pace-limit.ts';
import { PENDING_BUDGET } from '../../../../decide/policy-input.ts';
import { liftsLimits, type Verdict, type VerdictInputs, verdictOf } from '../../../../decide/verdict.ts';
import { type CanonicalTarget, isAt } from '../../../../decide/request-target.ts';
import type { ShownClearance, VisitorSession } from '../../../../decide/visitor-facts.ts';
import { type CompiledPolicies, compilePolicies } from '../../../../policies/compile/compile-policies.ts';
import type { PolicyOutcome } from '../../../../policies/outcome.ts';
import { restrictiveness, rolloutBucket } from '../../../../rules/decision-table.ts';
import type { MatchSignals, RuleMatch } from '../../../../rules/types.ts';
import { loggedRequest, readLoggedPath } from '../policies/policy-requests.ts';

export const replayedOutcomes = ['allow', 'challenge', 'block', 'redirect'] as const;
export type ReplayedOutcome = (typeof replayedOutcomes)[number];

/** The rules that match a visitor, as of a ruleset at one time. */
export type MatchRules = (signals: MatchSignals, ofLists?: 'most specific' | 'every entry') => RuleMatch;

/** What the gate decides by. */
export interface ReplayGate extends Pick<EdgeConfig, 'policy' | 'site'> {
  /** Names of the hosts that are served; `null`: all. */
  hosts: ReadonlySet<string> | null;
  pathPolicy: PathPolicyFor;
  botAction: BotActionFor;
  /** Bots of the account's table; `null`: there is none yet. */
  bots: Pick<BotTable, 'byId'> | null;
  policies: CompiledPolicies;
  /** By name of the policy. */
  actions: ReadonlyMap<string, PolicyAction>;
  /** What enforced limits say of a request that is above them, by name. */
  limits: ReadonlyMap<string, Exclude<Decision, 'allow'>>;
  match: MatchRules;
}

export type PolicyParts = Pick<ReplayGate, 'policies' | 'actions' | 'limits'>;

export function replayGate(
  { policy, site }: Pick<EdgeConfig, 'policy' | 'site'>,
  policySet: PolicyParts,
  bots: ReplayGate['bots'],
  match: MatchRules,
): ReplayGate {
  return {
    policy,
    site,
    hosts: policy.hosts.length > 0 ? new Set(policy.hosts.map((host) => host.toLowerCase())) : null,
    pathPolicy: compilePathPolicy(policy),
    botAction: compileBotPolicy(policy.botPolicy),
    ...policySet,
    bots,
    match,
  };
}

export function policyParts({ policies, limits }: Pick<PolicySet, 'policies' | 'limits'>): PolicyParts {
  return {
    policies: compilePolicies(policies, new Set(limits.map(({ name }) => name))),
    actions: new Map(policies.map(({ name, then }) => [name, then])),
    limits: new Map(
      limits
        .filter(({ mode }) => mode === 'enforce')
        .map(({ name, then }) => [name, then === 'challenge' ? 'challenge' : 'block']),
    ),
  };
}

/** What a request gets if, of the policies that may apply, these do. */
export interface ReplayedBranch {
  applying: ReadonlySet<string>;
  outcome: ReplayedOutcome;
  decidedBy: string;
  source: Verdict['source'];
  /** Whether the request comes to the limits, which are asked last. */
  reachesLimits: boolean;
}

export interface ReplayedRequest {
  /** The first is the one in which no policy applies that only may apply. `null`: there are too many to try. */
  branches: readonly [ReplayedBranch, ...ReplayedBranch[]] | null;
  /** Ids of policies that fire, enforced and monitored. */
  fired: readonly string[];
  /** Names of enforced policies that may apply: it depends on what the log does not keep. */
  unsure: readonly string[];
  /** Names of the limits that policies ask which surely apply. */
  limits: readonly string[];
  /** Whether a rule or a proved bot lifts every limit. */
  liftsLimits: boolean;
}

/** Of policies that may apply to one request: 16 combinations. */
const UNSURE_MAX = 4;
const NONE: ReadonlySet<string> = new Set();
const NO_LIMITS: ReplayGate['limits'] = new Map();

/** `limits`: `kept` lets limits say what they say of requests that were above them. */
export function replay(record: VerdictRecord, gate: ReplayGate, limits: 'kept' | 'left out' = 'kept'): ReplayedRequest {
  const known = limits === 'kept' ? gate.limits : NO_LIMITS;
  const target = targetOf(record);
  const signals = loggedSignals(record);
  const path = gate.pathPolicy(target, record.method);
  const session = sessionOf(record, gate);
  const bot = botOf(record, gate);
  const request = { ...loggedRequest(record), sessionStatus: session.status, pathType: path.pathType };
  const { outcome, unsure } = gate.policies.preview(request);
  const inputs: VerdictInputs = {
    policy: gate.policy,
    site: gate.site,
    path,
    method: record.method,
    preflight: isPreflight(record),
    ofPage: true,
    signals: { ...signals, ipCategories: record.ip_category, isAddressUnread: false },
    bot,
    botAction: bot === null ? 'inherit' : gate.botAction(bot, target),
    match: gate.match(signals),
    session,
    risk: record.risk_score === null ? null : { score: record.risk_score, detectors: 0 },
    hasPendingRoom: record.inputs?.policy?.reason !== PENDING_BUDGET,
    detectorNames: riskDetectors,
    clearance: clearanceOf(record),
    policies: outcome,
    pace: session.status === 'active' ? paceOf(record, gate.policy) : null,
  };
  const branch = (policies: PolicyOutcome, applying: ReadonlySet<string>): ReplayedBranch => {
    const ofPath = policies.skipSession ? { ...path, waiveSession: true } : path;
    return { applying, ...decided(record, { ...inputs, path: ofPath, policies }, target, known) };
  };
  const others = unsure.length > UNSURE_MAX ? null : subsets(unsure).filter(({ size }) => size > 0);
  return {
    branches: others && [
      branch(outcome, NONE),
      ...others.map((applying) => branch(gate.policies.preview(request, applying).outcome, applying)),
    ],
    fired: outcome.fired.map(({ id }) => id),
    unsure,
    limits: outcome.limits,
    liftsLimits: liftsLimits(inputs),
  };
}

/**
 * Whether the gate served one of its own addresses, or decides before any rule. No change of rules changes it.
 * `hosts`: those of now.
 */
export function isUntouchable(record: VerdictRecord, { hosts }: Pick<ReplayGate, 'hosts'>): boolean {
  const { inputs, source, decided_by: decidedBy, request_path: path, host } = record;
  if (source === 'internal' || source === 'error' || path.startsWith(protectPrefix)) return true;
  if (hosts !== null && !hosts.has(hostName(host))) return true;
  return inputs === undefined && decidedBy === 'policy:hosts';
}

function subsets(names: readonly string[]): ReadonlySet<string>[] {
  return names.reduce<ReadonlySet<string>[]>(
    (sets, name) => [...sets, ...sets.map((set) => new Set([...set, name]))],
    [NONE],
  );
}

function decided(
  record: VerdictRecord,
  inputs: VerdictInputs,
  target: CanonicalTarget,
  limits: ReplayGate['limits'],
): Omit<ReplayedBranch, 'applying'> {
  const verdict = solvedInPlace(record, verdictOf(inputs));
  const outcome = outcomeOf(verdict, target);
  // Where the verdict is not enforced, every request goes on.
  const reachesLimits = outcome === 'allow' || verdict.enforcementPolicy !== 'enforce';
  const limit = reachesLimits && !liftsLimits(inputs) ? limitAbove(record, inputs, limits) : null;
  if (limit === null) return { outcome, decidedBy: verdict.decidedBy, source: verdict.source, reachesLimits };
  const { source, decidedBy, ...limited } = solvedInPlace(record, verdictOf({ ...inputs, limit }));
  return { outcome: outcomeOf(limited, target), decidedBy, source, reachesLimits };
}

function outcomeOf({ decision, redirect }: Pick<Verdict, 'decision' | 'redirect'>, target: CanonicalTarget) {
  return decision === 'allow' && redirect !== null && !isAt(target, redirect.location) ? 'redirect' : decision;
}

/** How far the session was within its pace then. */
function paceOf({ fired_rules: fired }: VerdictRecord, { pace }: ReplayGate['policy']): VerdictInputs['pace'] {
  return isMetered(pace) ? { state: recordedPace(fired) } : null;
}

interface AskedLimit {
  verdict: Exclude<Decision, 'allow'>;
  name: string;
}

/** The strictest limit that the request was above then and that it is sent to now. */
function limitAbove(
  { inputs: recorded, fired_rules: fired }: VerdictRecord,
  { policies }: VerdictInputs,
  limits: ReplayGate['limits'],
): AskedLimit | null {
  const wasAbove = (name: string): boolean =>
    recorded?.limit?.name === name || fired.some(({ id }) => id === `limit:${name}`);
  let found: AskedLimit | null = null;
  for (const name of policies.limits) {
    const verdict = limits.get(name);
    if (verdict === undefined || !wasAbove(name)) continue;
    if (found === null || restrictiveness[verdict] > restrictiveness[found.verdict]) found = { verdict, name };
  }
  return found;
}

/** A challenged form whose token was verified passes again, where the token's level is still enough. */
function solvedInPlace({ source, level }: VerdictRecord, verdict: Verdict): Verdict {
  const isChallenged = verdict.decision === 'challenge' && verdict.source !== 'no-session';
  const isSolved = source === 'verified' && (level ?? 0) >= verdict.levelWanted;
  return isChallenged && isSolved ? { ...verdict, decision: 'allow', source } : verdict;
}

function targetOf({ request_path: received, host }: VerdictRecord): CanonicalTarget {
  return { scheme: 'https', host, received, query: '', ...readLoggedPath(received) };
}

export function loggedSignals({ ip, asn, country, ja4, user_agent: userAgent }: VerdictRecord): MatchSignals {
  return { ip, asn, countryCode: country, ja4, userAgent, rolloutBucket: rolloutBucket(`${ip}\n${userAgent}`) };
}

/** With what the account's table says of it; its proof is the one of then. */
function botOf({ bot }: VerdictRecord, { bots }: Pick<ReplayGate, 'bots'>): BotSignal | null {
  if (!bot) return null;
  const known = bots?.byId(bot.id) ?? null;
  return known === null ? bot : botSignal(known, bot.proof);
}

/** A preflight that was blocked is not told apart from another `OPTIONS`, of which there are few. */
function isPreflight({ method, source, decision }: VerdictRecord): boolean {
  return method === 'OPTIONS' && (source === 'preflight' || decision === 'block');
}

function sessionOf(
  { session_status: recorded, risk_score: riskScore }: VerdictRecord,
  { policy }: Pick<ReplayGate, 'policy'>,
): VisitorSession {
  return { status: policy.sessionsEnabled ? statusOf(recorded) : 'off', riskScore };
}

/** The record says what the path made of it: `waived`, or `no-session` for a call that got 401. */
function statusOf(recorded: SessionStatus): VisitorSession['status'] {
  return recorded === 'waived' || recorded === 'no-session' ? 'none' : recorded;
}

/** `null`: the visitor had none, or none was needed. It was enough then, so only its level is compared again. */
function clearanceOf({ level, source }: VerdictRecord): ShownClearance | null {
  if (level === null || source === 'verified') return null;
  return { level, kind: 'image', powDifficulty: POW_DIFFICULTY_MAX, eased: false, isAged: false };
}
