/**
 * A challenged request that may carry its own way out: a submission with a token is verified in place and forwarded
 * intact, one without gets the challenge. The edge reads no body that is not challenged, and reads a challenged one
 * once.
 */
import { NOT_READ, answerForm, message, type AnswerForm, type ChallengeExtras } from '../answer/answer.ts';
import type { JudgedContext } from '../decide/context.ts';
import { errorVerdict } from '../../decide/verdict.ts';
import { answerWith, forwardOn, type Step } from '../step/step.ts';
import { bodyForOrigin, readSubmission, submissionKind, type Submission } from '../submission/read-submission.ts';
import { type ChallengePorts, checkToken, noteRefusedToken, type TokenFault } from './check-token.ts';
import { holdSubmission } from './held-submission.ts';

/** `read`: the body, where a limit by user has read it. */
export async function challengeStep(
  context: JudgedContext,
  ports: ChallengePorts,
  read: Submission['body'] | null = null,
): Promise<Step> {
  const { facts, config } = context;
  const { request } = facts;
  const answerAs = answerForm(context);
  // A call from a script keeps its own body and repeats it; only forms would lose theirs.
  const isForm = (): boolean =>
    answerAs === 'page' || submissionKind(request.headers.get('content-type') ?? '') !== 'other';
  if (request.body === null || answerAs === 'text' || !isForm()) return challengeWithoutBody(context, ports, answerAs);

  const reading = await readSubmission(request, config.policy.submission, ports.bodies.hold(facts), read);
  if (!reading) return challengeWithoutBody(context, ports, answerAs);
  if (!reading.ok) {
    const { kind: fault } = reading.error;
    return answerWith(context, answerAs === 'json' && fault !== 'no-room' ? { kind: 'challenge' } : NOT_READ[fault]);
  }
  const submission = reading.value;
  if (submission.token !== null) return verifyInPlace(context, ports, answerAs, submission, submission.token);
  const away = withoutService(context, ports, bodyForOrigin(submission, config.policy.submission));
  if (away) return away;
  return answerAs === 'page' ? holdSubmission(context, ports, submission) : answerWith(context, { kind: 'challenge' });
}

const NO_CHALLENGES = message('unavailable', 'API.UNAVAILABLE', 'The challenge service does not respond.');

/** What `FAIL_MODE_CHALLENGE` does while the service is away. `null`: a challenge is shown. `body`: what was read of it. */
function withoutService(context: JudgedContext, ports: ChallengePorts, body: Submission['body'] | null): Step | null {
  const { failModeChallenge } = ports.environment;
  if (failModeChallenge === 'local' || ports.service.reachable) return null;
  ports.count('challenges_without_service');
  if (failModeChallenge === 'closed') return answerWith(context, NO_CHALLENGES);
  const verdict = errorVerdict('allow', 'FAIL_MODE_CHALLENGE open: the challenge service does not respond.');
  return forwardOn({ ...context, verdict }, null, body);
}

/** Where no body is read, nothing can be lost. */
async function challengeWithoutBody(
  context: JudgedContext,
  ports: ChallengePorts,
  answerAs: AnswerForm,
): Promise<Step> {
  const away = withoutService(context, ports, null);
  if (away) return away;
  const { request, target } = context.facts;
  const isPage = request.method === 'GET' && answerAs === 'page';
  const noScript = isPage ? await ports.waitLane.link(context, target.received) : null;
  return answerWith(context, { kind: 'challenge', ...(noScript ? { noScript } : {}) });
}

async function verifyInPlace(
  context: JudgedContext,
  ports: ChallengePorts,
  answerAs: AnswerForm,
  submission: Submission,
  token: string,
): Promise<Step> {
  const { config } = context;
  const settings = config.policy.submission;
  const check = await checkToken(context, config, ports, token, null);
  if (check.ok) {
    const { jti, level } = check.value.solved;
    const passed = { ...lifted(context, level), jti: context.jti ?? jti };
    return forwardOn(passed, true, bodyForOrigin(submission, settings));
  }
  noteRefusedToken(context, ports.limits, check.error);
  if (check.error.kind === 'unchecked' && ports.environment.failModeVerify === 'open') {
    const verdict = errorVerdict('allow', 'FAIL_MODE_VERIFY open: the token could not be checked.');
    return forwardOn({ ...context, verdict }, null, bodyForOrigin(submission, settings));
  }
  if (answerAs === 'json') return answerWith(context, { kind: 'challenge' }, false);
  return holdSubmission(context, ports, submission, NOTICES[check.error.kind]);
}

/** What the page of the next challenge says about the token. */
const NOTICES: Record<TokenFault['kind'], Pick<ChallengeExtras, 'notice'>> = {
  unchecked: { notice: 'offline' },
  expired: { notice: 'expired' },
  refused: { notice: 'failed' },
  // Nothing went wrong: the gate asks this visitor for more than the form did.
  'too-easy': {},
};

function lifted(context: JudgedContext, level: number): JudgedContext {
  return { ...context, verdict: { ...context.verdict, decision: 'allow', source: 'verified', level } };
}
