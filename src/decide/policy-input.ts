/**
 * The `policy` input of the decision table: the instance's policies, then its path rules, then what a request without a
 * session gets. The first of them that says something counts, in the strictest reading of the path.
 */
import type { InstancePolicy } from '../contract/management/instance-policy.ts';
import type { BotSignal } from '../bots/bot-proof.ts';
import { stricterEnd, type PolicyEnd, type PolicyOutcome } from '../policies/outcome.ts';
import { isProved, type DecideInputs, type DecideOutcome } from '../rules/decision-table.ts';
import type { PathPolicy } from './path-policy.ts';
import type { VisitorSession } from './visitor-facts.ts';

export const PENDING_BUDGET = 'pendingBudget';
const ON_PENDING = 'onPending';
const NO_SESSION = 'noSession';
const NOTHING: PolicyEnd = { verdict: null, redirect: null };

export interface PolicyFacts {
  policy: InstancePolicy;
  path: PathPolicy;
  policies: PolicyOutcome;
  method: string;
  /** Whether the network still has budget for pages without a session. */
  hasPendingRoom: boolean;
}

/** What the policies and the path rules decide. Where a reading of the path meets no policy, its path rule counts too. */
export function policyEnd({ path, policies }: Pick<PolicyFacts, 'path' | 'policies'>): PolicyEnd {
  const ofPath = path.action === 'inherit' ? NOTHING : pathEnd(path.action, path.pattern);
  if (policies.verdict === null && policies.redirect === null) return ofPath;
  return policies.isOpen ? stricterEnd<PolicyEnd>(policies, ofPath) : policies;
}

function pathEnd(action: 'allow' | 'challenge' | 'block', pattern: string | null): PolicyEnd {
  return { verdict: { name: `path:${pattern}`, action, level: 0 }, redirect: null };
}

export function policyInput(
  { verdict, redirect }: PolicyEnd,
  { policy, path, method, hasPendingRoom }: PolicyFacts,
  sessionMissing: boolean,
): DecideInputs['policy'] {
  if (verdict !== null) return { verdict: verdict.action, reason: verdict.name };
  if (redirect !== null) return { verdict: 'allow', reason: redirect.name };
  if (!sessionMissing || path.pathType === 'json') return null;
  const enforcement = policy.enforcementPolicy[path.pathType];
  if (!opensPage(method)) return { verdict: enforcement.onChallenge, reason: NO_SESSION };
  const { onPending, onChallenge } = enforcement;
  if (onPending === 'pass' || (onPending === 'budget' && hasPendingRoom))
    return { verdict: 'allow', reason: ON_PENDING };
  return onPending === 'budget'
    ? { verdict: onChallenge, reason: PENDING_BUDGET }
    : { verdict: onPending, reason: ON_PENDING };
}

/** Whether a challenge is that of a visitor without a session, and not of a rule, a limit or the risk. */
export function asksForSession({ input, decidedBy }: Pick<DecideOutcome, 'input' | 'decidedBy'>): boolean {
  return input === 'policy' && [PENDING_BUDGET, ON_PENDING, NO_SESSION].includes(decidedBy.slice('policy:'.length));
}

interface Pending extends Pick<PolicyFacts, 'policy' | 'path' | 'method'> {
  session: VisitorSession;
  bot: BotSignal | null;
}

/** Whether this is a page or a file of one whose visitor has no session, and a budget decides on those. */
export function isBudgeted({ policy, path, method, session, bot }: Pending): boolean {
  return (
    !isProvedBot(bot) &&
    isSessionMissing(session, path) &&
    path.pathType === 'html' &&
    opensPage(method) &&
    policy.enforcementPolicy.html.onPending === 'budget'
  );
}

export function isProvedBot(bot: BotSignal | null): boolean {
  return bot !== null && isProved(bot.proof);
}

export function isSessionMissing({ status }: VisitorSession, { waiveSession, exempt }: PathPolicy): boolean {
  return status !== 'off' && status !== 'active' && !waiveSession && !exempt;
}

function opensPage(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
