/**
 * A round can be answered once, right or wrong: a program would try all answers on one picture otherwise, or collect
 * many pictures for one proof of work. The same answer may come again, as after a lost connection. It then gets the same
 * response, and the same picture to the last bit.
 */
import { encodeFields, textField } from '../../../captcha/seal/field-encoding.ts';
import { sha256Hex } from '../../../bytes/hex.ts';
import type { SealedChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { countUses } from '../../../store/spend-ledger/client/count-uses.ts';
import { spend } from '../../../store/spend-ledger/client/spend.ts';

/** The widget repeats a call twice. Each repetition of a right answer draws a picture, so there are no more. */
const REPEATS_MAX = 2;
const REPEATS_WINDOW_MS = 600_000;

export interface SealedAnswer {
  challenge: SealedChallenge;
  sealed: string;
  solution: Readonly<Record<string, unknown>>;
}

/** `name`: of the round within its challenge. `false`: answered before, in another way or too often. */
export async function isOnlyAnswer(
  call: Pick<ServiceCall, 'store' | 'waitUntil'>,
  name: string,
  { challenge, sealed, solution }: SealedAnswer,
): Promise<boolean> {
  const { jti, siteKey, bornAt } = challenge;
  const question = encodeFields([textField(sealed), textField(JSON.stringify(solution))]);
  const key = `${name}:${jti}`;
  const { spent, replay } = await spend(call, jti, { key, bornAt, fingerprint: await sha256Hex(question), answer: '' });
  if (spent || replay === null) return spent;
  const together = { purpose: 'repeat', site: siteKey, group: jti, windowMs: REPEATS_WINDOW_MS };
  return countUses(call.store, together, [{ key, limit: REPEATS_MAX }]);
}
