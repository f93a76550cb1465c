/** A challenge of the gate: obtains a token and has the edge verify it, which sets the visitor's clearance cookie. */
import { CaptchaError } from './captcha-error.ts';
import { obtainToken, type TokenRequest } from './obtain-token.ts';
import { postJson } from './post-json.ts';

/** `apiBase` is the edge's. Rejects with a `CaptchaError`. */
export async function passChallenge(request: TokenRequest): Promise<void> {
  const { token } = await obtainToken(request);
  const answer = (await postJson(`${request.apiBase}/verify`, { token }, request.signal)) as { verified?: boolean };
  if (answer.verified !== true) throw new CaptchaError('failed', 'verify');
}
