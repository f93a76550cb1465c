/**
 * One round of a task that a person solves: counted, spent, judged. A round can be answered once, right or wrong: a
 * program would try all answers on one picture otherwise. The same answer sent again, after a lost connection, is
 * judged again and gives the same result.
 */
import { encodeFields, textField } from '../../../captcha/seal/field-encoding.ts';
import { judgeVisual } from '../../../captcha/visual/judge-visual.ts';
import { sha256Hex } from '../../../bytes/sha256-hex.ts';
import type { SealedChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import { visualStep } from '../../../captcha/visual/visual-progress.ts';
import type { VisualStep } from '../../../captcha/visual/visual-progress.ts';
import type { SiteSettings } from '../../../contract/management/site-settings.ts';
import { failed, ok } from '../../../result.ts';
import type { Result } from '../../../result.ts';
import type { RateLimitError } from '../../http/service-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import { countUse, spend } from '../../../store/spend-ledger/client/spend.ts';

/** Rounds answered per site and network, counted exactly: about fifty visitors behind one address. */
const ATTEMPTS_MAX = 120;
const ATTEMPTS_WINDOW_SECONDS = 600;

export type RoundOutcome = VisualStep | { step: 'answered-before' };

export async function judgeRound(
  call: Pick<ServiceCall, 'store' | 'waitUntil'>,
  engine: CaptchaEngine,
  settings: SiteSettings,
  round: { challenge: SealedChallenge; sealed: string; solution: Readonly<Record<string, unknown>>; prefix: string },
): Promise<Result<{ outcome: RoundOutcome; mechanical: boolean }, RateLimitError>> {
  const { challenge, sealed, solution, prefix } = round;
  const attempt = { key: `attempt ${challenge.siteKey} ${prefix}`, limit: ATTEMPTS_MAX };
  if (!(await countUse(call.store, { ...attempt, windowMs: ATTEMPTS_WINDOW_SECONDS * 1000 }))) {
    const what = 'Too many attempts from this network';
    return failed({ kind: 'rate-limited', what, retryAfterSeconds: ATTEMPTS_WINDOW_SECONDS });
  }
  const question = encodeFields([textField(sealed), textField(JSON.stringify(solution))]);
  const { spent, replay } = await spend(call, challenge.jti, {
    key: `round:${challenge.round}:${challenge.jti}`,
    bornAt: challenge.bornAt,
    fingerprint: await sha256Hex(question),
    answer: '',
  });
  if (!spent && replay === null) return ok({ outcome: { step: 'answered-before' }, mechanical: false });
  const judgement = await judgeVisual(engine.keyring, challenge, solution);
  const outcome = visualStep(challenge, judgement, settings.imageMaxRounds);
  return ok({ outcome, mechanical: judgement.mechanical });
}
