/**
 * A challenge that loses no submission: a challenged same-origin submission is sealed into the interstitial, which brings
 * it back after solving (`returned-submission.ts`), to its own address.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { type ChallengeExtras, message, TOO_LARGE } from '../answer/answer.ts';
import type { JudgedContext } from '../decide/context.ts';
import { ownReference } from '../request/canonical-path.ts';
import { isSameOrigin } from '../request/same-origin.ts';
import { sealHeld } from '../seal/held-submission-seal.ts';
import { answerWith, type Step } from '../step/step.ts';
import { bodyForOrigin, type Submission } from '../submission/read-submission.ts';
import { NO_COOKIE, WAIT_SECONDS } from './wait-lane.ts';
import type { ChallengePorts } from './ports.ts';

/** The largest body held for a challenge: more in a hidden form field would burden a slow connection. */
const HELD_MAX_BYTES = 1024 * 1024;
const SEND_AGAIN = message('send-again', 'API.CHALLENGE_REQUIRED', 'Solve the challenge, then send the request again.');

/**
 * The challenge for a submission without a good token. A submission that may not be held must be sent again. `refusal`:
 * of the token that it had, and what the page says about it.
 */
export async function holdSubmission(
  context: JudgedContext,
  { environment, waitLane }: ChallengePorts,
  submission: Submission,
  refusal?: Pick<ChallengeExtras, 'notice'>,
): Promise<Step> {
  const { facts, config, held, clearance } = context;
  const { request, target, signals, nowMs, requestId } = facts;
  const tokenVerified = refusal === undefined ? null : false;
  if (submission.body.length > HELD_MAX_BYTES) return answerWith(context, TOO_LARGE, tokenVerified);
  // It came back after the wait and still has no clearance: the browser keeps no cookie. Another round would not help.
  if (held && !clearance && nowMs - held.sealedAtMs >= WAIT_SECONDS * 1000) {
    return answerWith(context, NO_COOKIE, tokenVerified);
  }
  // Without a ledger that spends the seal, the submission could be sent twice.
  const canBeSpent = environment.rules.kind === 'service';
  if (!canBeSpent || request.method !== 'POST' || !isSameOrigin(request, target.host, false)) {
    return answerWith(context, SEND_AGAIN, tokenVerified);
  }
  const seal = await sealHeld(config.keys.current, {
    // A submission that is challenged again keeps its id, so that all its seals are spent together.
    id: held?.id ?? requestId,
    host: target.host,
    received: target.received,
    contentType: submission.contentType,
    referer: request.headers.get('referer'),
    binding: await visitorBinding(signals.ip, signals.userAgent),
    sealedAtMs: held?.sealedAtMs ?? nowMs,
    body: bodyForOrigin(submission, config.policy.submission),
  });
  const replay = { url: ownReference(target.received), seal, noScript: await waitLane.link(context, null) };
  return answerWith(context, { kind: 'challenge', ...refusal, replay }, tokenVerified);
}
