/**
 * `POST /__protect/verify {token}` (design 3.3): a token of action `clearance` and sufficient level
 * buys the clearance cookie. A form's token, or an easier one, buys nothing.
 */
import { CLEARANCE_ACTION, TOKEN_MAX_CHARS } from '../../contract/captcha/challenge-terms.ts';
import { checkToken } from '../challenge/check-token.ts';
import { clearanceCookie, newClearance } from '../session/clearance.ts';
import { json, jsonError } from '../answer/respond.ts';
import { readJsonObject } from './admission.ts';
import type { ProtectCall } from './routes.ts';

/** What a visitor gets whose token could not be checked, where the operator says so: long enough to go on. */
const UNCHECKED_CLEARANCE_SECONDS = 60;
/** For a challenge the edge minted itself: an outage, not half an hour. */
const LOCAL_CLEARANCE_SECONDS = 600;

export async function verifyForClearance(call: ProtectCall): Promise<Response> {
  const { passage, edge } = call;
  const { config, signals, nowMs } = passage;
  const body = await readJsonObject(call);
  if (body instanceof Response) return body;
  const { token } = body;
  if (typeof token !== 'string' || token === '' || token.length > TOKEN_MAX_CHARS) {
    return jsonError(passage, 'API.INVALID_BODY', 'A token is needed.');
  }
  if (!config || !signals) return jsonError(passage, 'API.UNAVAILABLE', 'The gate has no configuration yet.');

  const check = await checkToken(passage, edge, token, CLEARANCE_ACTION);
  passage.verified = check.outcome === 'verified';
  if (check.outcome === 'refused') return json(passage, 200, { verified: false, reason: check.reason });
  if (check.outcome === 'fault') {
    if (edge.environment.failModeVerify === 'closed') {
      return jsonError(passage, 'API.UNAVAILABLE', 'The token could not be checked.');
    }
    passage.verified = null;
    const claims = await newClearance(config, signals, passage.requestId, config.policy.clearanceLevel, nowMs);
    const short = { ...claims, exp: claims.iat + UNCHECKED_CLEARANCE_SECONDS };
    passage.cookies.push(await clearanceCookie(short, config, nowMs));
    return json(passage, 200, { verified: true, unchecked: true });
  }
  const jti = check.jti ?? passage.requestId;
  passage.jti ??= jti;
  const made = await newClearance(config, signals, jti, check.level, nowMs);
  const claims = check.isLocal ? { ...made, exp: Math.min(made.exp, made.iat + LOCAL_CLEARANCE_SECONDS) } : made;
  passage.cookies.push(await clearanceCookie(claims, config, nowMs));
  return json(passage, 200, { verified: true, expiresAt: claims.exp * 1000 });
}
