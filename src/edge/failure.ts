/**
 * What a request gets when the gate cannot judge it (design 8). Fail-open and fail-closed are values
 * in the verdict, visible in the log; an exception is never an accidental pass.
 */
import type { Edge } from './isolate/edge.ts';
import { passOn } from './origin/pass-on.ts';
import type { Passage } from './request/passage.ts';
import { block, challenge, message } from './answer/respond.ts';
import { errorVerdict } from './decide/verdict.ts';

/** No config or no ruleset was ever loaded: first start, nothing in KV, service unreachable. */
export async function answerWithoutRuleset(passage: Passage, edge: Edge): Promise<Response> {
  edge.count('requests_without_ruleset');
  if (edge.environment.failMode === 'closed') {
    passage.verdict = errorVerdict('block', 'FAIL_MODE closed: no ruleset was ever loaded.');
    return message(passage, 'unavailable', 'API.UNAVAILABLE', 'The gate has no rules to judge by yet.');
  }
  const decision = passage.config?.policy.enforcementPolicy[passage.path?.pathType ?? 'html'].onError ?? 'allow';
  passage.verdict = errorVerdict(decision, 'FAIL_MODE open: no ruleset was ever loaded.');
  switch (decision) {
    case 'allow':
      return passOn(passage, edge);
    case 'challenge':
      return challenge(passage);
    case 'block':
      return block(passage);
  }
}

/** An exception of ours. Crafted input must not open the gate, and the origin is not called again. */
export async function answerAfterFailure(passage: Passage, edge: Edge, error: unknown): Promise<Response> {
  edge.count('exceptions');
  const { requestId } = passage;
  const stack = error instanceof Error ? error.stack : String(error);
  console.error(JSON.stringify({ level: 'error', event: 'exception', requestId, stack }));
  try {
    if (passage.originCalled) {
      return await message(passage, 'origin-unreachable', 'API.ORIGIN_UNREACHABLE', 'The answer was lost on the way.');
    }
    const { config, ruleset } = edge.feed.state;
    if (!config || !ruleset) return await answerWithoutRuleset(passage, edge);
    passage.config = config;
    passage.verdict = errorVerdict('challenge', 'An exception at the gate: challenged.');
    return await challenge(passage);
  } catch {
    // The answer itself failed: a bare refusal needs nothing that could fail too.
    passage.verdict = errorVerdict('block', 'An exception at the gate, and another in its answer.');
    return new Response(`Forbidden\nReference: ${requestId}\n`, {
      status: 403,
      headers: { 'cache-control': 'no-store', 'x-protect-request-id': requestId, 'x-protect-decision': 'block' },
    });
  }
}
