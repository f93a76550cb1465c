/**
 * One logged request through the gate of now, or through the gate as it would be after a change. The verdict is made by
 * the edge's own function (`verdictOf`), so that a preview says what the gate would do. What the log does not keep is
 * handled in one place, here:
 *
 * - Headers, cookies and the query are unknown. Policies that depend on one are tried in every combination.
 * - What lifted a challenge then (a clearance, a verified form) lifts it again, up to the level that the record names.
 * - Whether a network's budget had room is known where it decided. Elsewhere it is taken to have room.
 * - A limit says what it said then, as long as a policy still sends the request to it.
 *
 * Pure.
 */
import { POW_DIFFICULTY_MAX } from '../../../../captcha/plan/demand.ts';
import { riskDetectors } from '../../../../contract/edge/risk-detectors.ts';
import { protectPrefix } from '../../../../contract/edge/headers.ts';
import type { EdgeConfig } from '../../../../contract/edge/edge-responses.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { PolicySet } from '../../../../contract/management/policy-set/policy-set.ts';
import type { PolicyAction } from '../../../../contract/management/policy-set/policy.ts';
import type { SessionStatus } from '../../../../contract/vocabulary.ts';
import { type BotActionFor, compileBotPolicy } from '../../../../decide/bot-action.ts';
import { compilePathPolicy, type PathPolicyFor } from '../../../../decide/path-policy.ts';
import { PENDING_BUDGET } from '../../../../decide/policy-input.ts';
import { liftsLimits, type Verdict, type VerdictInputs, verdictOf } from '../../../../decide/verdict.ts';
import { type CanonicalTarget, isAt } from '../../../../decide/request-target.ts';
import type { ClearanceFacts, VisitorSession } from '../../../../decide/visitor-facts.ts';
import { readPath } from '../../../../bytes/url-path.ts';
import { type CompiledPolicies, compilePolicies } from '../../../../policies/compile/compile-policies.ts';
import type { PolicyOutcome } from '../../../../policies/outcome.ts';
import { rolloutBucket } from '../../../../rules/decision-table.ts';
import type { MatchSignals, RuleMatch } from '../../../../rules/types.ts';
import { loggedRequest } from '../policies/policy-requests.ts';

export const replayedOutcomes = ['allow', 'challenge', 'block', 'redirect'] as const;
export type ReplayedOutcome = (typeof replayedOutcomes)[number];

/** The rules that match a visitor, as of a ruleset at one time. */
export type MatchRules = (signals: MatchSignals, ofLists?: 'most specific' | 'every entry') => RuleMatch;

/** What the gate decides by. */
export interface ReplayGate extends Pick<EdgeConfig, 'policy' | 'site'> {
  pathPolicy: PathPolicyFor;
  botAction: BotActionFor;
  policies: CompiledPolicies;
  /** By name of the policy. */
  actions: ReadonlyMap<string, PolicyAction>;
  match: MatchRules;
}

export type PolicyParts = Pick<ReplayGate, 'policies' | 'actions'>;

export function replayGate(
  { policy, site }: Pick<EdgeConfig, 'policy' | 'site'>,
  policySet: PolicyParts,
  match: MatchRules,
): ReplayGate {
  const { policies, actions } = policySet;
  return {
    policy,
    site,
    pathPolicy: compilePathPolicy(policy),
    botAction: compileBotPolicy(policy.botPolicy),
    policies,
    actions,
    match,
  };
}

export function policyParts({ policies, limits }: Pick<PolicySet, 'policies' | 'limits'>): PolicyParts {
  return {
    policies: compilePolicies(policies, new Set(limits.map(({ name }) => name))),
    actions: new Map(policies.map(({ name, then }) => [name, then])),
  };
}

/** What a request gets if, of the policies that may apply, these do. */
export interface ReplayedBranch {
  applying: ReadonlySet<string>;
  outcome: ReplayedOutcome;
  decidedBy: string;
  source: Verdict['source'];
}

export interface ReplayedRequest {
  /** The first is the one in which no policy applies that only may apply. `null`: there are too many to try. */
  branches: readonly [ReplayedBranch, ...ReplayedBranch[]] | null;
  /** Rules that match. */
  match: RuleMatch;
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

/** `limits`: `kept` lets a limit say what it said then. */
export function replay(record: VerdictRecord, gate: ReplayGate, limits: 'kept' | 'left out' = 'kept'): ReplayedRequest {
  const target = targetOf(record);
  const signals = signalsOf(record);
  const path = gate.pathPolicy(target, record.method);
  const session = sessionOf(record, gate);
  const request = { ...loggedRequest(record), sessionStatus: session.status, pathType: path.pathType };
  const { outcome, unsure } = gate.policies.preview(request);
  const match = gate.match(signals);
  const inputs: VerdictInputs = {
    policy: gate.policy,
    site: gate.site,
    path,
    method: record.method,
    preflight: isPreflight(record),
    ofPage: true,
    signals: { ...signals, ipCategories: record.ip_category, isAddressUnread: false },
    bot: record.bot ?? null,
    botAction: record.bot ? gate.botAction(record.bot, target) : 'inherit',
    match,
    session,
    risk: record.risk_score === null ? null : { score: record.risk_score, detectors: 0 },
    hasPendingRoom: record.inputs?.policy?.reason !== PENDING_BUDGET,
    detectorNames: riskDetectors,
    clearance: clearanceOf(record),
    policies: outcome,
  };
  const branch = (policies: PolicyOutcome, applying: ReadonlySet<string>): ReplayedBranch => {
    const ofPath = policies.skipSession ? { ...path, waiveSession: true } : path;
    return { applying, ...decided(record, { ...inputs, path: ofPath, policies }, target, limits) };
  };
  const others = unsure.length > UNSURE_MAX ? null : subsets(unsure).filter(({ size }) => size > 0);
  return {
    branches: others && [
      branch(outcome, NONE),
      ...others.map((applying) => branch(gate.policies.preview(request, applying).outcome, applying)),
    ],
    match,
    fired: outcome.fired.map(({ id }) => id),
    unsure,
    limits: outcome.limits,
    liftsLimits: liftsLimits(inputs),
  };
}

/** Whether the gate served one of its own addresses, or decided before any rule. No change of rules changes it. */
export function isUntouchable({ inputs, source, decided_by: decidedBy, request_path: path }: VerdictRecord): boolean {
  if (source === 'internal' || source === 'error' || path.startsWith(protectPrefix)) return true;
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
  limits: 'kept' | 'left out',
): Omit<ReplayedBranch, 'applying'> {
  const verdict = limitedVerdict(record, inputs, limits);
  const { decision, decidedBy, source, redirect } = verdict;
  const isRedirect = decision === 'allow' && redirect !== null && !isAt(target, redirect.location);
  return { outcome: isRedirect ? 'redirect' : decision, decidedBy, source };
}

/** Limits are asked last, and only of requests that nothing else stops. */
function limitedVerdict(record: VerdictRecord, inputs: VerdictInputs, limits: 'kept' | 'left out'): Verdict {
  const verdict = solvedInPlace(record, verdictOf(inputs));
  const limit = limits === 'kept' ? record.inputs?.limit : null;
  if (!limit || verdict.decision !== 'allow' || liftsLimits(inputs)) return verdict;
  const isAsked = inputs.policies.limits.includes(limit.name);
  return isAsked ? solvedInPlace(record, verdictOf({ ...inputs, limit })) : verdict;
}

/** A challenged form whose token was verified passes again, where the token's level is still enough. */
function solvedInPlace({ source, level }: VerdictRecord, verdict: Verdict): Verdict {
  const isChallenged = verdict.decision === 'challenge' && verdict.source !== 'no-session';
  const isSolved = source === 'verified' && (level ?? 0) >= verdict.levelWanted;
  return isChallenged && isSolved ? { ...verdict, decision: 'allow', source } : verdict;
}

function targetOf({ request_path: received, host }: VerdictRecord): CanonicalTarget {
  const reading = received.startsWith('/') ? readPath(received) : { path: received, ambiguous: true, readings: [] };
  return { scheme: 'https', host, received, query: '', ...reading };
}

function signalsOf({ ip, asn, country, ja4, user_agent: userAgent }: VerdictRecord): MatchSignals {
  return { ip, asn, countryCode: country, ja4, userAgent, rolloutBucket: rolloutBucket(`${ip}\n${userAgent}`) };
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
function clearanceOf({ level, source }: VerdictRecord): ClearanceFacts | null {
  if (level === null || source === 'verified') return null;
  return { level, kind: 'image', powDifficulty: POW_DIFFICULTY_MAX, eased: false };
}
