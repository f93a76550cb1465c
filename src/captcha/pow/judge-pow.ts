/**
 * Judges a proof of work by its seal alone. The answer of an RSW chain is a number of as many bytes as the modulus, so
 * `y + n` and `n − y` are wrong answers. Programs that write numbers without leading zeros may leave them out.
 */
import { decodeBase64url } from '../../bytes/base64url.ts';
import { checkSha256 } from './pow-sha256.ts';
import { RSW_MODULUS_BYTES } from './rsw-key.ts';
import type { ChallengeParams } from '../seal/sealed-challenge.ts';
import type { ChallengeLane } from '../seal/sealed-course.ts';

/** Less than any published hardware needs for one squaring; microseconds. */
const FASTEST_SQUARING_US = 0.3;

/** What judging needs of an opened challenge, of a captcha or of a session. */
export interface OpenedWork {
  challenge: { lane: ChallengeLane; params: ChallengeParams; issuedAt: number };
  answeredBy(answer: Uint8Array): Promise<boolean>;
}

export async function powSolved(
  opened: OpenedWork,
  solution: Readonly<Record<string, unknown>>,
  nowMs: number,
): Promise<boolean> {
  const { lane, params } = opened.challenge;
  if (lane === 'rsw') {
    const { y } = solution;
    const answer = typeof y === 'string' && y.length <= RSW_MODULUS_BYTES * 2 ? decodeBase64url(y) : null;
    return answer !== null && isNumber(answer) && opened.answeredBy(withLeadingZeros(answer));
  }
  if (lane === 'sha256') return checkSha256(params.salt ?? '', params.bits ?? Infinity, solution.counters);
  return lane === 'wait' && params.notBefore !== undefined && nowMs >= params.notBefore;
}

/** As many bytes as the modulus, or fewer without a zero in front. */
function isNumber(bytes: Uint8Array): boolean {
  return bytes.length === RSW_MODULUS_BYTES || (bytes.length < RSW_MODULUS_BYTES && bytes[0] !== 0);
}

function withLeadingZeros(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(RSW_MODULUS_BYTES);
  whole.set(bytes, RSW_MODULUS_BYTES - bytes.length);
  return whole;
}

/** Whether a chain was computed faster than a browser can: a native solver, which the score takes into account. */
export function solvedSuspiciouslyFast(opened: OpenedWork, nowMs: number): boolean {
  const { params, issuedAt } = opened.challenge;
  return params.t !== undefined && (nowMs - issuedAt) * 1000 < params.t * FASTEST_SQUARING_US;
}
