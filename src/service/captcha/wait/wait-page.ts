/**
 * `/captcha/v1/wait`: the challenge for a visitor whose browser runs no scripts, in a frame inside the `<noscript>` of
 * the page. It is a challenge of the wait lane: a form with one button, and after the wait the token as text to copy.
 * Its token has level 0, and it uses the budget of the network and the site. It never replaces a picture, and a visitor
 * with a high risk does not get it.
 *
 * The page is known from `Referer`, which a browser does not let another page set. Only pages of that host may frame
 * the response, so no other page can read a token in it.
 */
import { HONEYPOT_FIELD } from '../../../captcha/plan/honeypot.ts';
import { openChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import { type ChallengeRequest, challengeRequest } from '../../../contract/captcha/challenge-api.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { parseWithSchema } from '../../http/body/parse-with-schema.ts';
import { readBodyAs } from '../../http/body/read-body.ts';
import { statusOf, unexpectedErrorResponse } from '../../http/respond-error.ts';
import type { CaptchaRouteError } from '../../http/service-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { CHALLENGE_LIMITS, newChallenge } from '../challenge/create-challenge.ts';
import { captchaEngine } from '../captcha-engine.ts';
import { solutionResult } from '../solution/submit-solution.ts';
import { waitForm } from './wait-form.ts';
import { waitPageResponse, type WaitStep } from './wait-page-response.ts';

const withoutScript = { bigint: false, worker: false, script: false, audio: false };

export async function waitPage(call: ServiceCall): Promise<Response> {
  try {
    const step = await (call.request.method === 'POST' ? pressed(call) : opened(call));
    return await waitPageResponse(call, step.ok ? step.value : refusalStep(step.error));
  } catch (error) {
    const { status } = unexpectedErrorResponse(error, call.requestId);
    return waitPageResponse(call, { step: 'unavailable', status });
  }
}

function refusalStep(error: CaptchaRouteError): WaitStep {
  const status = statusOf(error);
  if (error.kind === 'script-needed') return { step: 'needs-script', status };
  return { step: error.kind === 'rate-limited' ? 'busy' : 'unavailable', status };
}

/** The first content of the frame: a challenge whose wait passes while the visitor fills in the form of the page. */
async function opened(call: ServiceCall): Promise<Result<WaitStep, CaptchaRouteError>> {
  const { searchParams } = new URL(call.request.url);
  const value = {
    siteKey: searchParams.get('sitekey') ?? '',
    action: searchParams.get('action') ?? undefined,
    cdata: searchParams.get('cdata') ?? undefined,
    capabilities: { script: false },
  };
  const asked = parseWithSchema(challengeRequest, { kind: 'json', value });
  if (!asked.ok) return asked;
  return challengeStep(call, asked.value, originOf(call.request.headers.get('referer')), 'start');
}

async function pressed(call: ServiceCall): Promise<Result<WaitStep, CaptchaRouteError>> {
  const body = await readBodyAs(waitForm, call.request, CHALLENGE_LIMITS);
  if (!body.ok) return body;
  const { challenge, [HONEYPOT_FIELD]: honeypot } = body.value;
  const sealed = await openChallenge(captchaEngine(call).keyring, challenge, call.nowMs);
  if (sealed === null || sealed.challenge.lane !== 'wait') return failed({ kind: 'challenge-invalid' });
  const { siteKey, hostname, action, cdata, params } = sealed.challenge;
  if (call.nowMs < (params.notBefore ?? Infinity)) return ok({ step: 'wait', hostname, challenge, padBytes: 0 });
  const solution = await solutionResult(call, {
    challenge,
    solution: {},
    ...(honeypot === undefined ? {} : { honeypot }),
  });
  if (!solution.ok) return solution;
  const { token } = solution.value;
  if (token !== undefined) return ok({ step: 'token', hostname, token });
  // Filling in the form took longer than the challenge lives. The visitor gets another one, for the page in the seal.
  const asked = { siteKey, ...(action === '' ? {} : { action }), cdata, capabilities: withoutScript };
  return challengeStep(call, asked, `https://${hostname}`, 'wait');
}

async function challengeStep(
  call: ServiceCall,
  asked: ChallengeRequest,
  origin: string | null,
  step: 'start' | 'wait',
): Promise<Result<WaitStep, CaptchaRouteError>> {
  const made = await newChallenge(call, asked, origin);
  if (!made.ok) return made;
  const { answer, padBytes, hostname } = made.value;
  return ok({ step, hostname, challenge: answer.challenge, padBytes });
}

function originOf(referer: string | null): string | null {
  return referer !== null && URL.canParse(referer) ? new URL(referer).origin : null;
}
