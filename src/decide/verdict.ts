/**
 * From signals, rule match, config, session and clearance to a `Verdict`: what was decided, by which input, and
 * whether it is enforced. Pure: it takes no `Request` and makes no `Response`. `docs/access-rules.md` shows the table.
 */
import { RISK_NEVER, hasDetector } from '../contract/edge/risk-detectors.ts';
import { demandAt, meets } from '../captcha/plan/demand.ts';
import type { SiteDemand } from '../contract/edge/edge-responses.ts';
import type { InstancePolicy } from '../contract/management/instance-policy.ts';
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';
import type { BotAction, Decision, IpCategory, SessionStatus, VerdictSource } from '../contract/vocabulary.ts';
import {
  ROLLOUT_BUCKETS,
  decide,
  liftedInputs,
  restrictiveness,
  type DecideInputs,
  type DecideOutcome,
} from '../rules/decision-table.ts';
import type { Ruleset } from '../rules/ruleset.ts';
import type { RuleMatch } from '../rules/types.ts';
import { botInput } from '../bots/bot-rules.ts';
import type { BotSignal } from '../bots/bot-proof.ts';
import type { PathPolicy } from './path-policy.ts';
import { firedPace, limitInput, limitsFired, paceVerdict, SESSION_PACE } from './pace-limit.ts';
import type { PaceReading } from '../risk/pace.ts';
import type { RiskReading } from '../risk/headers/request-risk.ts';
import type { ClearanceFacts, ShownClearance, VisitorSession, SignalFacts } from './visitor-facts.ts';
import type { PolicyEnd, PolicyOutcome } from '../policies/outcome.ts';
import {
  PENDING_BUDGET,
  asksForSession,
  isBudgeted,
  isProvedBot,
  isSessionMissing,
  policyEnd,
  policyInput,
} from './policy-input.ts';

export type RecordedRule = VerdictRecord['fired_rules'][number];

export interface Verdict {
  readonly decision: Decision;
  readonly source: VerdictSource;
  readonly decidedBy: string;
  /** Rules and policies that matched, limits that the request is above, the detectors behind the risk score, `session:no-page`. */
  readonly firedRules: readonly RecordedRule[];
  readonly enforcementPolicy: VerdictRecord['enforcement_policy'];
  readonly sessionStatus: SessionStatus;
  readonly bot: BotSignal | null;
  /** The bot policy asks for money: 402 in place of 403. */
  readonly isCharged: boolean;
  /** Value of `X-Protect-Status`, or `null`. */
  readonly status: 'no-session' | 'invalid-session' | 'session-not-found' | null;
  readonly riskScore: number | null;
  /** Level of the clearance that lifted a challenge or stood for a session. */
  readonly level: number | null;
  /** Lowest level of a solved challenge that lifts a challenge here. */
  readonly levelWanted: number;
  /** Where a policy sends an allowed request instead of the origin. */
  readonly redirect: PolicyOutcome['redirect'];
  /** What the table decided from; `null`: no table was applied. */
  readonly inputs: DecideInputs | null;
  /** Why, where `inputs` do not say it. */
  readonly explain: string | null;
  /** Allowed as a page without a session, and not for another reason: it takes from its network's budget. */
  readonly takesPending: boolean;
}

/** Of policies that a rule or a bot lifts. */
const NOT_APPLIED: PolicyEnd = { verdict: null, redirect: null };

export interface VerdictInputs {
  policy: InstancePolicy;
  site: SiteDemand;
  path: PathPolicy;
  method: string;
  preflight: boolean;
  /** Whether a page prepared the request, as far as its headers say. */
  ofPage: boolean;
  signals: SignalFacts;
  bot: BotSignal | null;
  /** What the bot policy says of it here. */
  botAction: BotAction;
  match: RuleMatch;
  session: VisitorSession;
  /** Of the session and the request together; `null` where neither is known. */
  risk: RiskReading | null;
  /** Whether the network still has budget for pages without a session. */
  hasPendingRoom: boolean;
  /** By bit position of `risk.detectors`. */
  detectorNames: readonly string[];
  clearance: ShownClearance | null;
  policies: PolicyOutcome;
  /** How far the session is within its pace; `null`: it is not metered. */
  pace: Pick<PaceReading, 'state'> | null;
  /** The strictest enforced limit that the request is above, and all that it is above. */
  limit?: DecideInputs['limit'];
  limitsFired?: readonly RecordedRule[];
}

export function verdictOf(inputs: VerdictInputs): Verdict {
  const { policy, path, signals, bot, match, session, risk, clearance } = inputs;
  const waived = path.waiveSession || path.exempt;
  // Who is proved to be a bot keeps no session, and is not judged by how its requests look.
  const isBot = isProvedBot(bot);
  const sessionMissing = !isBot && isSessionMissing(session, path);
  // A path that asks for no session has clients that are no browser, and so has an instance without sessions.
  const counts = !isBot && (sessionMissing || session.status === 'active');
  const end = policyEnd(inputs);
  const table: DecideInputs = {
    network: match.network,
    client: match.client,
    bot: bot && botInput(bot, inputs.botAction),
    category: categoryInput(policy, signals.ipCategories),
    risk: counts && risk !== null ? riskInput(policy, path, risk.score) : null,
    limit: limitInput(inputs),
    policy: policyInput(end, inputs, sessionMissing),
  };
  const outcome = decide(table);
  const applied = liftedInputs(table).includes('policy') ? NOT_APPLIED : end;
  const levelWanted = Math.max(policy.clearanceLevel, applied.verdict?.level ?? 0);
  const isTooOld = clearance?.isAged && isBeyondUse(table, inputs);
  const cleared = clearance && !isTooOld && lifts(clearance, inputs, levelWanted) ? clearance : null;
  const later = laterStep(inputs, outcome, { sessionMissing, isBot, isCleared: cleared !== null });
  const isChallenged = outcome.decision === 'challenge';
  const shown = session.status === 'invalid-session' || session.status === 'session-not-found' ? session.status : null;
  const wantsSession = later === 'no-session' || (later === null && isChallenged && sessionMissing);
  const status = shown ?? (wantsSession ? 'no-session' : null);
  const known = waived && session.status === 'none' ? 'waived' : session.status;
  return {
    decision: later === null ? outcome.decision : decisionOf[later],
    source: later ?? sourceOf(outcome, bot),
    decidedBy: deciderOf(later, outcome),
    firedRules: marked(firedRules(inputs, table.risk), sessionMissing && !inputs.ofPage),
    enforcementPolicy: enforcementOf(policy, signals),
    bot,
    isCharged: outcome.input === 'bot' && inputs.botAction === 'charge',
    sessionStatus: later === 'no-session' && status !== null ? status : known,
    status,
    riskScore: risk?.score ?? null,
    level: later === 'clearance' ? (cleared?.level ?? null) : null,
    levelWanted,
    redirect: applied.redirect,
    inputs: later === 'error' ? null : table,
    explain: later === 'error' ? 'Blocked: x-client-ip of the proxy is not one address.' : null,
    takesPending: later !== 'error' && takesPending(table, outcome, inputs),
  };
}

/** What replaces the table's word, by the source that the log then names. */
type LaterStep = 'error' | 'preflight' | 'exempt' | 'clearance' | 'no-session';

const decisionOf: Record<LaterStep, Decision> = {
  error: 'block',
  preflight: 'allow',
  exempt: 'allow',
  clearance: 'allow',
  'no-session': 'challenge',
};

/** `null`: the table's word stands. */
function laterStep(
  { path, signals, preflight, match }: VerdictInputs,
  { decision, input }: DecideOutcome,
  known: { sessionMissing: boolean; isBot: boolean; isCleared: boolean },
): LaterStep | null {
  if (decision === 'block') return null;
  // Some rule for addresses might block this visitor, and nobody can tell.
  if (signals.isAddressUnread) return 'error';
  // A preflight carries no cookies, so a browser could not solve it. The call that follows is decided by itself.
  if (preflight) return 'preflight';
  // The bot policy has its own word about these paths, and robots.txt repeats it.
  const isTold = known.isBot && input === 'bot';
  if (path.exempt && decision === 'challenge' && !isTold) return 'exempt';
  if (decision === 'challenge') return known.isCleared ? 'clearance' : null;
  // A json path has no page to open a session from. Its client gets 401 and opens one, or has worked for a clearance.
  const needsSession = known.sessionMissing && path.pathType === 'json' && match.network?.verdict !== 'allow';
  if (!needsSession) return null;
  return known.isCleared ? 'clearance' : 'no-session';
}

/**
 * Whether the visitor is challenged for more than use costs, which a visitor without a session pays and one that has used
 * what it worked for. The pace is left out, because it would hide a policy that challenges as well.
 */
function isBeyondUse(table: DecideInputs, { limit = null }: VerdictInputs): boolean {
  const outcome = decide({ ...table, limit });
  return outcome.decision === 'challenge' && !asksForSession(outcome);
}

function deciderOf(later: LaterStep | null, { decidedBy }: DecideOutcome): string {
  if (later === 'error') return 'default';
  if (later === 'no-session') return 'policy:noSession';
  return decidedBy.startsWith('policy:path:') ? decidedBy.slice('policy:'.length) : decidedBy;
}

/**
 * Whether what was solved is enough for the session's risk of now, which may have risen since. What this one request
 * shows by itself does not count: a challenge is asked for by a script, whose headers are not those of a page, so its
 * demand could be lower and the visitor would be challenged in a circle.
 */
function lifts(
  clearance: ClearanceFacts,
  { policy, site, session }: VerdictInputs,
  clearanceLevel = policy.clearanceLevel,
): boolean {
  if (clearance.level < clearanceLevel) return false;
  return meets(clearance, demandAt(site, { ...policy, clearanceLevel }, session.riskScore ?? 0, clearance.eased));
}

/** Whether rules block this visitor whatever else is known of them. Nothing lifts such a block but another rule. */
export function isBlockedByRules(
  { signals, nowMs }: { signals: SignalFacts; nowMs: number },
  policy: InstancePolicy,
  ruleset: Pick<Ruleset, 'match'>,
): boolean {
  const { network, client } = ruleset.match(signals, Math.floor(nowMs / 1000));
  const others = { bot: null, category: null, risk: null, limit: null, policy: null };
  return decide({ network, client, ...others }).decision === 'block' && enforcementOf(policy, signals) === 'enforce';
}

/** Whether a rule or a proved bot lifts every limit here, so that none needs to be asked. */
export function liftsLimits({ match, bot, botAction }: VerdictInputs): boolean {
  const limit = { verdict: 'block', name: '' } as const;
  const others = { client: null, category: null, risk: null, policy: null };
  return liftedInputs({ ...others, network: match.network, bot: bot && botInput(bot, botAction), limit }).includes(
    'limit',
  );
}

/** A verdict that the table did not make: a failure policy made it, or no input was known yet. */
export function errorVerdict(
  decision: Decision,
  explain: string,
  source: VerdictSource = 'error',
  decidedBy = 'default',
): Verdict {
  return {
    decision,
    source,
    decidedBy,
    firedRules: [],
    enforcementPolicy: 'enforce',
    bot: null,
    isCharged: false,
    sessionStatus: 'off',
    status: null,
    riskScore: null,
    level: null,
    levelWanted: 0,
    redirect: null,
    inputs: null,
    explain,
    takesPending: false,
  };
}

function categoryInput(policy: InstancePolicy, categories: readonly IpCategory[]): DecideInputs['category'] {
  let strictest: DecideInputs['category'] = null;
  for (const category of categories) {
    const verdict = policy.ipCategoryRules[category];
    if (verdict && (!strictest || restrictiveness[verdict] > restrictiveness[strictest.verdict])) {
      strictest = { verdict, category };
    }
  }
  return strictest;
}

function riskInput(policy: InstancePolicy, path: PathPolicy, score: number): DecideInputs['risk'] {
  if (score < policy.challengeThreshold || policy.challengeThreshold === RISK_NEVER) return null;
  const blocks = score >= policy.blockThreshold && policy.blockThreshold !== RISK_NEVER;
  return { verdict: blocks ? 'block' : policy.enforcementPolicy[path.pathType].onChallenge, score };
}

function firedRules(inputs: VerdictInputs, risk: DecideInputs['risk']): readonly RecordedRule[] {
  const { match, policies, risk: reading, detectorNames } = inputs;
  const detectors = reading?.detectors ?? 0;
  const limits = limitsFired(inputs);
  const others = policies.fired.length + limits.length;
  const matched = others === 0 ? match.fired : [...match.fired, ...policies.fired, ...limits];
  if (detectors === 0) return matched;
  const verdict = risk?.verdict ?? 'allow';
  const fired = detectorNames.filter((_, place) => hasDetector(detectors, place));
  const parts = fired.map((name) => ({ id: `risk:${name}`, verdict, mode: 'enforce' as const }));
  return [...matched, ...parts];
}

/** In the log's list of fired rules, so that it can be filtered by. `monitor`: it decides nothing. */
const NO_PAGE: RecordedRule = { id: 'session:no-page', verdict: 'allow', mode: 'monitor' };

function marked(fired: readonly RecordedRule[], isNoPage: boolean): readonly RecordedRule[] {
  return isNoPage ? [...fired, NO_PAGE] : fired;
}

function takesPending(table: DecideInputs, { decision }: DecideOutcome, inputs: VerdictInputs): boolean {
  const passes = decision === 'allow' && table.policy?.reason === 'onPending' && isBudgeted(inputs);
  // Who has solved a challenge, or is allowed by a rule, needs no budget.
  if (!passes || (inputs.clearance && lifts(inputs.clearance, inputs))) return false;
  return !liftedInputs(table).includes('policy');
}

/** A file that turned out to be a page or data, where the session has used what it worked for. */
export function pastPace(verdict: Verdict, policy: InstancePolicy, state: 'spent' | 'beyond'): Verdict {
  const decision = paceVerdict(state, policy.enforcementPolicy.html.onChallenge);
  return {
    ...verdict,
    decision,
    source: 'limit',
    level: null,
    decidedBy: `limit:${SESSION_PACE}`,
    firedRules: [...verdict.firedRules, firedPace(state, 'enforce')],
    inputs: verdict.inputs && { ...verdict.inputs, limit: { verdict: decision, name: SESSION_PACE } },
    explain: `The response was a page or data, asked for as a file: ${decision} by the pace of the session.`,
  };
}

/** A file that turned out to be a page, where its network has no budget for pages left. */
export function pastBudget(verdict: Verdict, policy: InstancePolicy): Verdict {
  const decision = policy.enforcementPolicy.html.onChallenge;
  return {
    ...verdict,
    decision,
    source: 'policy',
    decidedBy: `policy:${PENDING_BUDGET}`,
    inputs: verdict.inputs && { ...verdict.inputs, policy: { verdict: decision, reason: PENDING_BUDGET } },
    explain: `The response was a page, asked for as a file: ${decision} by policy ${PENDING_BUDGET}.`,
  };
}

function sourceOf(outcome: DecideOutcome, bot: BotSignal | null): VerdictSource {
  switch (outcome.input) {
    case 'network':
    case 'client':
      return 'access-rule';
    case 'bot':
      return bot?.proof === 'impostor' ? 'impostor' : 'bot';
    case 'category':
      return 'ip-category';
    case 'risk':
      return 'risk';
    case 'limit':
      return 'limit';
    case 'policy':
      return outcome.decidedBy === 'policy:onPending' && outcome.decision === 'allow'
        ? 'bootstrap-passthrough'
        : 'policy';
    case 'default':
      return 'default';
  }
}

function enforcementOf(policy: InstancePolicy, signals: SignalFacts): Verdict['enforcementPolicy'] {
  if (policy.monitor) return 'monitor';
  return signals.rolloutBucket >= (policy.rollout * ROLLOUT_BUCKETS) / 100 ? 'rollout-excluded' : 'enforce';
}
