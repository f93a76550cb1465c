/**
 * `challenge` and `solution`, passed on to the service with the client JWT and the visitor's signals,
 * so that the widget needs no other host (design 3.3). What the visitor says about himself is dropped.
 * While the service is away the edge mints and checks by itself (design 8).
 */
import { CLEARANCE_ACTION } from '../../contract/captcha/challenge-terms.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { LOCAL_LEVEL, LOCAL_PREFIX, checkLocalSolution, mintLocalChallenge } from '../challenge/local-challenge.ts';
import { json, jsonError } from '../answer/respond.ts';
import { readBounded } from '../submission/submission.ts';
import { visitorOf } from '../request/visitor.ts';
import { readJsonObject } from './admission.ts';
import type { ProtectCall } from './routes.ts';

/** Minting takes a millisecond; a person waits for it, and the edge can mint a challenge of its own. */
const CALL_TIMEOUT_MS = 2000;
/** A picture challenge is some hundred kilobytes. */
const ANSWER_MAX_BYTES = 2_000_000;

export async function passChallengeCall(call: ProtectCall, step: 'challenge' | 'solution'): Promise<Response> {
  const { passage, edge } = call;
  const { config, signals, nowMs } = passage;
  const body = await readJsonObject(call);
  if (body instanceof Response) return body;
  if (!config || !signals) return jsonError(passage, 'API.UNAVAILABLE', 'The gate has no configuration yet.');
  const { challenge, solution } = body;
  if (typeof challenge === 'string' && challenge.startsWith(LOCAL_PREFIX)) {
    return json(passage, 200, await checkLocalSolution(config, signals, challenge, solution, nowMs));
  }
  const visitor = visitorOf(passage);
  const { sessionId: _told, ...asked } = body;
  // The session whose cookie was checked here, not the one that the page names.
  const session = step === 'challenge' && passage.jti !== null ? { sessionId: passage.jti } : {};
  const question =
    step === 'challenge' ? { siteKey: config.siteKey, ...asked, ...session, visitor } : { ...body, visitor };
  if (edge.environment.rules.kind === 'service') {
    try {
      const answer = await edge.service.call(`/captcha/v1/${step}`, CALL_TIMEOUT_MS, JSON.stringify(question));
      const bytes = answer.body && (await readBounded(answer.body, ANSWER_MAX_BYTES));
      const told = bytes instanceof Uint8Array ? parseJson(bytes) : null;
      if (answer.status < 500 && isJsonObject(told)) return json(passage, answer.status, told);
    } catch {
      // Late, gone or unreadable: the same for the visitor.
    }
    edge.count(`challenge_failures{step="${step}"}`);
  }
  // Only for clearance: a form's token is for the site's backend, which this edge cannot speak for.
  const mayMint =
    body['action'] === CLEARANCE_ACTION &&
    edge.environment.failModeChallenge === 'local' &&
    config.policy.clearanceLevel <= LOCAL_LEVEL;
  if (step === 'challenge' && mayMint) {
    edge.count('local_challenges');
    return json(passage, 200, await mintLocalChallenge(config, signals, nowMs));
  }
  return jsonError(passage, 'API.UNAVAILABLE', 'The challenge service does not answer.');
}
