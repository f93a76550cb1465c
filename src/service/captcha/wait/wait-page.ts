/**
 * `/captcha/v1/wait`: the way through for a form's visitor who runs no script (design 5), in a frame inside
 * the page's `<noscript>`. A challenge of the wait lane, a form with one button, and after the wait
 * the token as text to copy. It buys what the lane buys and costs what it costs: level 0, within the
 * budget of network and site, never instead of a picture, never at high risk.
 *
 * The page it stands on is told by `Referer`, which a browser lets no page borrow from another, and the
 * answer lets only pages of that host frame it. Nobody but the visitor can read a token in it.
 */
import * as z from 'zod/mini';
import { HONEYPOT_FIELD } from '../../../captcha/plan/honeypot.ts';
import { openChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import { challengeRequest, solutionRequest } from '../../../contract/captcha/challenge-api.ts';
import type { ChallengeRequest } from '../../../contract/captcha/challenge-api.ts';
import { parseWithSchema } from '../../http/body/parse-with-schema.ts';
import { readBody } from '../../http/body/read-body.ts';
import { ApiError } from '../../http/api-error.ts';
import { respondError } from '../../http/respond-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { CHALLENGE_BODY_MAX_BYTES, newChallenge } from '../challenge/create-challenge.ts';
import { captchaEngine } from '../captcha-engine.ts';
import { solved } from '../solution/submit-solution.ts';
import { waitAnswer } from './wait-page-response.ts';

/** The frame's own form; whatever else stands in it means nothing. */
const pressedForm = z.object({
  challenge: solutionRequest.shape.challenge,
  [HONEYPOT_FIELD]: solutionRequest.shape.honeypot,
});

export async function waitPage(call: ServiceCall): Promise<Response> {
  try {
    return call.request.method === 'POST' ? await pressed(call) : await opened(call);
  } catch (error) {
    const { status } = respondError(error, call.requestId);
    const scripted = error instanceof ApiError && error.key === 'API.INCORRECT_CAPTCHA_TYPE';
    return waitAnswer(call, { step: scripted ? 'needs-script' : status === 429 ? 'busy' : 'unavailable', status });
  }
}

/** The frame's first content: a challenge whose wait passes while the visitor fills in the form. */
async function opened(call: ServiceCall): Promise<Response> {
  const { searchParams } = new URL(call.request.url);
  const value = {
    siteKey: searchParams.get('sitekey') ?? '',
    action: searchParams.get('action') ?? undefined,
    cdata: searchParams.get('cdata') ?? undefined,
    capabilities: { script: false },
  };
  const asked = parseWithSchema(challengeRequest, { kind: 'json', value });
  return another(call, asked, originOf(call.request.headers.get('referer')), 'start');
}

async function pressed(call: ServiceCall): Promise<Response> {
  const body = parseWithSchema(pressedForm, await readBody(call.request, CHALLENGE_BODY_MAX_BYTES));
  const sealed = await openChallenge(captchaEngine(call).keyring, body.challenge, call.nowMs);
  if (sealed === null || sealed.challenge.lane !== 'wait') {
    throw new ApiError('CAPTCHA.INVALID_CAPTCHA_CHALLENGE', 'The challenge is not one of this service');
  }
  const { siteKey, hostname, action, cdata, params } = sealed.challenge;
  if (call.nowMs < (params.notBefore ?? Infinity)) {
    return waitAnswer(call, { step: 'wait', hostname, challenge: body.challenge, padBytes: 0 });
  }
  const honeypot = body[HONEYPOT_FIELD];
  const { token } = await solved(call, {
    challenge: body.challenge,
    solution: {},
    ...(honeypot === undefined ? {} : { honeypot }),
  });
  if (token !== undefined) return waitAnswer(call, { step: 'token', hostname, token });
  // Filling in the form took longer than the challenge lived: another one, for the page that was sealed.
  const asked = { siteKey, ...(action === '' ? {} : { action }), cdata, capabilities: withoutScript };
  return another(call, asked, `https://${hostname}`, 'wait');
}

const withoutScript = { bigint: false, worker: false, script: false, audio: false };

async function another(
  call: ServiceCall,
  asked: ChallengeRequest,
  origin: string | null,
  step: 'start' | 'wait',
): Promise<Response> {
  const { answer, padBytes, hostname } = await newChallenge(call, asked, origin);
  return waitAnswer(call, { step, hostname, challenge: answer.challenge, padBytes });
}

function originOf(referer: string | null): string | null {
  return referer !== null && URL.canParse(referer) ? new URL(referer).origin : null;
}
