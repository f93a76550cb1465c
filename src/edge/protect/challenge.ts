/**
 * `challenge` and `solution`, passed on to the service with the client JWT and the visitor's signals,
 * so that the widget needs no other host (design 3.3). What the visitor says about himself is dropped.
 */
import { CLEARANCE_ACTION } from '../../contract/challenge-api.ts';
import { json, jsonError } from '../respond.ts';
import { visitorOf } from '../visitor.ts';
import { readJsonObject } from './admission.ts';
import type { ProtectCall } from './routes.ts';

/** Minting takes a millisecond; a person waits for it. */
const CALL_TIMEOUT_MS = 5000;
/** A picture challenge is some hundred kilobytes. */
const ANSWER_MAX_CHARS = 2_000_000;

export async function passChallengeCall(call: ProtectCall, step: 'challenge' | 'solution'): Promise<Response> {
  const { passage, edge } = call;
  const { config } = passage;
  const body = await readJsonObject(call);
  if (body instanceof Response) return body;
  if (!config) return jsonError(passage, 'API.UNAVAILABLE', 'The gate has no configuration yet.');
  const visitor = visitorOf(passage);
  const question =
    step === 'challenge'
      ? { siteKey: config.siteKey, action: CLEARANCE_ACTION, ...body, visitor }
      : { ...body, visitor };
  try {
    const answer = await edge.service.call(`/captcha/v1/${step}`, CALL_TIMEOUT_MS, JSON.stringify(question));
    const text = await answer.text();
    if (answer.status < 500 && text.length <= ANSWER_MAX_CHARS) {
      return json(passage, answer.status, JSON.parse(text) as object);
    }
  } catch {
    // Late, gone or unreadable: the same for the visitor.
  }
  edge.count(`challenge_failures{step="${step}"}`);
  return jsonError(passage, 'API.UNAVAILABLE', 'The challenge service does not answer.');
}
