/**
 * `POST /__protect/verify {token}`: a token of action `clearance` buys the clearance cookie, for the visitor whose
 * challenge it was, if it is enough for their risk now. A form's token, or one of an easier challenge, buys nothing.
 */
import { demandAt } from '../../captcha/plan/demand.ts';
import { CLEARANCE_ACTION, TOKEN_MAX_CHARS } from '../../contract/captcha/challenge-constants.ts';
import { error, jsonAnswer } from '../answer/answer.ts';
import { checkToken, noteRefusedToken } from '../challenge/check-token.ts';
import type { RequestContext } from '../decide/context.ts';
import type { Isolate } from '../isolate/isolate.ts';
import { type ClearanceClaims, clearanceCookie, newClearance } from '../session/clearances.ts';
import { type Answered, answerWith } from '../step/step.ts';
import { readJsonObject } from './admission.ts';

/** For a visitor whose token could not be checked, where the operator allows it: long enough to go on. */
const UNCHECKED_CLEARANCE_SECONDS = 60;
/** For a challenge that the edge minted itself: as long as an outage, not half an hour. */
const LOCAL_CLEARANCE_SECONDS = 600;

export async function buyClearance(context: RequestContext, isolate: Isolate): Promise<Answered> {
  const { facts, config } = context;
  const { requestId, nowMs } = facts;
  const body = await readJsonObject(facts.request);
  if (!body.ok) return answerWith(context, body.error);
  const { token } = body.value;
  if (typeof token !== 'string' || token === '' || token.length > TOKEN_MAX_CHARS) {
    return answerWith(context, error('API.INVALID_BODY', 'Send the token of a solved challenge.'));
  }
  if (!config) return answerWith(context, error('API.UNAVAILABLE', 'The gate has no rules yet. Try again.'));

  const check = await checkToken(context, config, isolate, token, CLEARANCE_ACTION);
  if (!check.ok && check.error.kind !== 'unchecked') {
    noteRefusedToken(context, isolate.limits, check.error);
    return answerWith(context, jsonAnswer({ verified: false, reason: check.error.reason }), false);
  }
  if (!check.ok) {
    if (isolate.environment.failModeVerify === 'closed') {
      return answerWith(context, error('API.UNAVAILABLE', 'The token could not be checked. Try again.'), false);
    }
    const { kind, powDifficulty } = demandAt(config.site, config.policy, context.verdict.riskScore ?? 0);
    const solved = { jti: requestId, level: config.policy.clearanceLevel, kind, powDifficulty, eased: false };
    const claims = endingIn(UNCHECKED_CLEARANCE_SECONDS, await newClearance(config, facts, solved, context.clearance));
    const cookies = [...context.cookies, await clearanceCookie(claims, config, nowMs)];
    return answerWith({ ...context, cookies }, jsonAnswer({ verified: true, unchecked: true }));
  }
  const { solved, isLocal } = check.value;
  const made = await newClearance(config, facts, solved, context.clearance);
  const claims = isLocal ? endingIn(LOCAL_CLEARANCE_SECONDS, made) : made;
  const cookies = [...context.cookies, await clearanceCookie(claims, config, nowMs)];
  const bought = jsonAnswer({ verified: true, expiresAt: claims.exp * 1000 });
  return answerWith({ ...context, cookies, jti: context.jti ?? solved.jti }, bought, true);
}

/** The same clearance, which is good for nothing later. */
function endingIn(seconds: number, claims: ClearanceClaims): ClearanceClaims {
  const exp = Math.min(claims.exp, claims.iat + seconds);
  return { ...claims, exp, until: exp };
}
