/**
 * `POST /__protect/challenge` and `/__protect/solution`: passed on to the service with the client JWT and the visitor's
 * signals, so that the widget needs no other host. What the visitor claims about themselves is dropped. While the
 * service is away the edge mints and checks challenges itself.
 */
import { demandAt } from '../../captcha/plan/demand.ts';
import { CLEARANCE_ACTION } from '../../contract/captcha/challenge-constants.ts';
import { CLEARANCE_DIFFICULTY } from '../../risk/pace.ts';
import { error, jsonAnswer, toldToVisitor } from '../answer/answer.ts';
import { isLocal, LOCAL_LEVEL } from '../challenge/local-challenge.ts';
import { noteFailedChallenge } from '../challenge/check-token.ts';
import { openSessionId, type RequestContext } from '../decide/context.ts';
import type { Endpoint } from '../gate.ts';
import { readObject, type ServiceQuestion } from '../feed/service-client.ts';
import { edgeVisitorOf } from '../session/visitor.ts';
import { answerWith } from '../step/step.ts';
import { readJsonObject } from './admission.ts';

/** Minting takes a millisecond, a person waits for it, and the edge can mint a challenge of its own. */
const CALL_TIMEOUT_MS = 2000;
/** A picture challenge is some hundred kilobytes. */
const ANSWER_MAX_BYTES = 2_000_000;

type ChallengeCall = 'challenge' | 'solution';

/** What of an answer tells it from one of something else on the way, such as a proxy. The widget checks the task. */
const isAnswer: Record<ChallengeCall, (body: Record<string, unknown>) => boolean> = {
  challenge: ({ challenge, kind, expiresAt }) =>
    typeof challenge === 'string' && typeof kind === 'string' && typeof expiresAt === 'number',
  solution: ({ verified }) => typeof verified === 'boolean',
};

function callOf(call: ChallengeCall): ServiceQuestion<Record<string, unknown>> {
  const read = readObject((answer) => (isAnswer[call](answer) ? answer : null));
  const path = `/captcha/v1/${call}`;
  return { path, timeoutMs: CALL_TIMEOUT_MS, maxBytes: ANSWER_MAX_BYTES, isForVisitor: true, read };
}

export function challengeEndpoint(call: ChallengeCall): Endpoint {
  return async function passChallengeCall(context, isolate) {
    const { facts, config } = context;
    const body = await readJsonObject(facts.request);
    if (!body.ok) return answerWith(context, body.error);
    if (!config) return answerWith(context, error('API.UNAVAILABLE', 'The gate has no rules yet. Try again.'));
    const { localChallenges, environment, count } = isolate;
    const { challenge, solution, level = 0 } = body.value;
    if (isLocal(challenge)) {
      const checked = await localChallenges.check(config, facts, challenge, solution);
      if (!checked.verified) noteFailedChallenge(context, isolate.limits);
      count(`local_challenges{outcome="${outcomeOf(checked)}"}`);
      return answerWith(context, jsonAnswer(checked));
    }
    if (environment.rules.kind === 'service') {
      const asked = await isolate.service.ask(callOf(call), questionOf(call, context, config.siteKey, body.value));
      if (asked.ok) {
        const outcome = call === 'challenge' ? 'issued' : outcomeOf(asked.value);
        count(`challenges{outcome="${outcome}"}`);
        if (outcome === 'failed') noteFailedChallenge(context, isolate.limits);
        return answerWith(context, jsonAnswer(asked.value));
      }
      if (asked.error.kind === 'visitor') return answerWith(context, toldToVisitor(asked.error));
      count(`challenge_failures{step="${call}"}`);
    }
    // A picture is not replaced by the edge's own work, not even in an outage.
    const demand = demandAt(config.site, config.policy, context.verdict.riskScore ?? 0);
    const isEnough = Math.max(config.policy.clearanceLevel, Number(level)) <= LOCAL_LEVEL;
    // Only for clearance: a form's token is for the site's backend, which the edge cannot verify for.
    const mayMint =
      body.value['action'] === CLEARANCE_ACTION &&
      environment.failModeChallenge === 'local' &&
      isEnough &&
      demand.kind === 'pow';
    if (call === 'challenge' && mayMint) {
      count('local_challenges{outcome="issued"}');
      const minted = await localChallenges.mint(config, facts, Math.max(demand.powDifficulty, CLEARANCE_DIFFICULTY));
      return answerWith(context, jsonAnswer(minted));
    }
    return answerWith(context, error('API.UNAVAILABLE', 'The challenge service does not respond.'));
  };
}

function questionOf(
  call: ChallengeCall,
  context: RequestContext,
  siteKey: string,
  body: Record<string, unknown>,
): object {
  const { facts, verdict } = context;
  const visitor = edgeVisitorOf(facts, verdict.riskScore);
  if (call === 'solution') return { ...body, visitor };
  const { sessionId: _claimed, ...asked } = body;
  // Only the session whose cookie was checked here. A visitor with a session pays by what that session solved, so a page
  // that may name any id, or a clearance that asks for the next one, would always pay the lowest price.
  const sessionId = openSessionId(context);
  return { siteKey, ...asked, ...(sessionId === null ? {} : { sessionId }), visitor };
}

function outcomeOf({ verified }: { verified?: unknown }): 'passed' | 'failed' {
  return verified === true ? 'passed' : 'failed';
}
