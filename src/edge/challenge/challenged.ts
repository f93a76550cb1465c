/**
 * A challenged request that may carry its own way out (design 3.3): a submission with a token is
 * verified in place and forwarded intact; one without is answered with the challenge. The edge reads
 * no body that is not challenged, and reads a challenged one once.
 */
import { checkToken } from './check-token.ts';
import type { Edge } from '../isolate/edge.ts';
import { passOn } from '../origin/pass-on.ts';
import type { Passage } from '../request/passage.ts';
import { sealedReplay } from './replay.ts';
import { answerForm, challenge, message, noRoom } from '../answer/respond.ts';
import { bodyForOrigin, readSubmission, submissionKind } from '../submission/submission.ts';
import type { Submission } from '../submission/submission.ts';
import { errorVerdict } from '../decide/verdict.ts';
import { takeHeldWait, waitLink } from './wait-lane.ts';

export async function challengeOrVerify(passage: Passage, edge: Edge): Promise<Response> {
  const { request, config } = passage;
  if (await takeHeldWait(passage, edge)) {
    passage.verdict = { ...passage.verdict!, decision: 'allow', source: 'verified', level: 0 };
    return passOn(passage, edge);
  }
  const form = answerForm(passage);
  const kind = submissionKind(request.headers.get('content-type') ?? '');
  // A call from a script keeps its own body and repeats it; only forms would lose theirs.
  const worthReading = request.body !== null && form !== 'text' && (form === 'page' || kind !== 'other');
  if (!config || !worthReading) return challengeBare(passage, edge);

  const reading = await readSubmission(request, config.policy.submission, edge.bodies.holdFor(passage));
  if (!reading) return challengeBare(passage, edge);
  if (!reading.ok) {
    if (reading.reason === 'no-room') return noRoom(passage);
    if (form === 'json') return challenge(passage);
    return reading.reason === 'too-large'
      ? message(passage, 'too-large', 'API.BODY_TOO_LARGE', 'This submission is too large to be held for a challenge.')
      : message(passage, 'send-again', 'API.BAD_REQUEST', 'The submission did not arrive whole.');
  }
  const { submission } = reading;
  if (submission.token === null) {
    return form === 'page' ? sealedReplay(passage, edge, submission) : challenge(passage);
  }
  return verifyInPlace(passage, edge, submission, submission.token);
}

/** Without a body: nothing can be lost. What a dead service means for it is the operator's word. */
async function challengeBare(passage: Passage, edge: Edge): Promise<Response> {
  const { failModeChallenge } = edge.environment;
  if (failModeChallenge !== 'local' && !edge.service.reachable) {
    edge.count('challenges_without_service');
    if (failModeChallenge === 'open') {
      passage.verdict = errorVerdict('allow', 'FAIL_MODE_CHALLENGE open: the challenge service does not answer.');
      return passOn(passage, edge);
    }
    return message(passage, 'unavailable', 'API.UNAVAILABLE', 'The challenge service does not answer.');
  }
  const noScript = answerForm(passage) === 'page' ? await waitLink(passage) : null;
  return challenge(passage, noScript ? { noScript } : {});
}

async function verifyInPlace(passage: Passage, edge: Edge, submission: Submission, token: string): Promise<Response> {
  const settings = passage.config!.policy.submission;
  const check = await checkToken(passage, edge, token, null);
  passage.verified = check.outcome === 'verified';
  if (check.outcome === 'verified') {
    passage.jti ??= check.jti;
    passage.verdict = { ...passage.verdict!, decision: 'allow', source: 'verified', level: check.level };
    return passOn(passage, edge, bodyForOrigin(submission, settings));
  }
  if (check.outcome === 'fault' && edge.environment.failModeVerify === 'open') {
    passage.verified = null;
    passage.verdict = errorVerdict('allow', 'FAIL_MODE_VERIFY open: the token could not be checked.');
    return passOn(passage, edge, bodyForOrigin(submission, settings));
  }
  if (answerForm(passage) === 'json') return challenge(passage);
  return sealedReplay(
    passage,
    edge,
    submission,
    check.outcome === 'fault' ? 'offline' : check.expired ? 'expired' : 'failed',
  );
}
