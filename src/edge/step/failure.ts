/**
 * What a request gets when the gate cannot judge it (docs/failure-modes.md). Fail-open and fail-closed are values in
 * the verdict and show in the log; an exception never lets a request pass by accident.
 */
import { message } from '../answer/answer.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { PathPolicy } from '../../decide/path-policy.ts';
import { protectPrefix } from '../../contract/edge/headers.ts';
import { type RequestContext, unjudged } from '../decide/context.ts';
import { errorVerdict } from '../../decide/verdict.ts';
import type { EdgeEnvironment } from '../environment.ts';
import type { Count } from '../feed/upstream.ts';
import type { RequestFacts } from '../request/facts.ts';
import { answerWith, forwardOn, type Step } from './step.ts';

const UNAVAILABLE = message('unavailable', 'API.UNAVAILABLE', 'The gate has no rules yet. Try again.');

/** No config or no ruleset was ever loaded: first start, nothing in KV, service unreachable. */
export function stepWithoutRuleset(context: RequestContext, failMode: EdgeEnvironment['failMode'], count: Count): Step {
  count('requests_without_ruleset');
  if (failMode === 'closed') {
    const verdict = errorVerdict('block', 'FAIL_MODE closed: no ruleset was ever loaded.');
    return answerWith({ ...context, verdict }, UNAVAILABLE);
  }
  const decision = context.config?.policy.enforcementPolicy[context.path?.pathType ?? 'html'].onError ?? 'allow';
  const verdict = errorVerdict(decision, 'FAIL_MODE open: no ruleset was ever loaded.');
  const decided = { ...context, verdict };
  return decision === 'allow' ? forwardOn(decided) : answerWith(decided, { kind: decision });
}

/** An exception of ours before the origin was called. Crafted input must not open the gate. */
export function stepAfterException(
  facts: RequestFacts,
  { config, ruleset }: { config: CompiledConfig | null; ruleset: { version: number } | null },
  failMode: EdgeEnvironment['failMode'],
  count: Count,
): Step {
  const path = config && pathOf(facts, config);
  if (!config || !ruleset) {
    const context = unjudged(facts, { config, path });
    return isEndpoint(facts) ? answerWith(context, UNAVAILABLE) : stepWithoutRuleset(context, failMode, count);
  }
  const verdict = errorVerdict('challenge', 'An exception at the gate: challenged.');
  return answerWith(unjudged(facts, { config, path, verdict, rulesetVersion: ruleset.version }), { kind: 'challenge' });
}

/** The edge's own endpoints never reach the origin, whatever fails. */
function isEndpoint({ target }: RequestFacts): boolean {
  return target.path.startsWith(protectPrefix);
}

/** Reading the path may be what failed. */
function pathOf(facts: RequestFacts, config: CompiledConfig): PathPolicy | null {
  try {
    const path = config.pathPolicy(facts.target, facts.request.method);
    return isEndpoint(facts) ? { ...path, pathType: 'json' } : path;
  } catch {
    return null;
  }
}

export function reportException(requestId: string, count: Count, error: unknown): void {
  count('exceptions');
  const stack = error instanceof Error ? error.stack : String(error);
  console.error(JSON.stringify({ level: 'error', event: 'exception', requestId, stack }));
}
