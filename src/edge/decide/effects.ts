/** Does what a judgement asks for, whatever the response is. */
import type { WaitUntil } from '../../bytes/polled.ts';
import type { PendingBudget } from '../pending/pending-budget.ts';
import type { SessionRenewals } from '../session/session-renewals.ts';
import { sessionCookie } from '../session/set-session-cookie.ts';
import { sessionVisitorOf } from '../session/visitor.ts';
import type { JudgedContext } from './context.ts';

/** The context with the cookies that came of it. */
export function takeEffects(
  context: JudgedContext,
  pending: PendingBudget,
  renewals: SessionRenewals,
  waitUntil: WaitUntil,
): JudgedContext {
  const { facts, effects, verdict } = context;
  const { signals, target, nowMs } = facts;
  if (effects.pending !== null) pending.take(effects.pending, signals.ip, nowMs);
  if (effects.renewal === null) return context;
  const visitor = () => sessionVisitorOf(facts, verdict.riskScore);
  const successor = renewals.successorOf(effects.renewal, visitor, nowMs, waitUntil);
  return successor === null ? context : { ...context, cookies: [sessionCookie(successor, target, nowMs)] };
}
