/**
 * One round of a task that a person solves: counted, spent, judged. A round can be answered once,
 * whatever the answer, or a program would try all of them on one picture; the same answer sent again
 * (a lost connection) is judged again, to the same end.
 */
import { encodeFields, textField } from '../../../captcha/seal/field-encoding.ts';
import { judgeVisual } from '../../../captcha/visual/judge-visual.ts';
import { sha256Hex } from '../../../bytes/sha256-hex.ts';
import type { SealedChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import { visualStep } from '../../../captcha/visual/visual-progress.ts';
import type { VisualStep } from '../../../captcha/visual/visual-progress.ts';
import type { SiteSettings } from '../../../contract/management/site-settings.ts';
import { ApiError } from '../../http/api-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import { countUse, spend } from '../../../store/spend-ledger/client/spend.ts';

/** Rounds answered per site and network in ten minutes, counted exactly: some fifty visitors of one address. */
const ATTEMPTS_MAX = 120;
const ATTEMPTS_WINDOW_MS = 600_000;

export type RoundOutcome = VisualStep | { step: 'answered-before' };

export async function judgeRound(
  call: Pick<ServiceCall, 'store' | 'waitUntil'>,
  engine: CaptchaEngine,
  settings: SiteSettings,
  round: { challenge: SealedChallenge; sealed: string; solution: Readonly<Record<string, unknown>>; prefix: string },
): Promise<{ outcome: RoundOutcome; mechanical: boolean }> {
  const { challenge, sealed, solution, prefix } = round;
  const key = `attempt ${challenge.siteKey} ${prefix}`;
  if (!(await countUse(call.store, { key, limit: ATTEMPTS_MAX, windowMs: ATTEMPTS_WINDOW_MS }))) {
    throw new ApiError('API.RATE_LIMITED', 'Too many attempts from this network; wait a little', undefined, {
      'retry-after': String(ATTEMPTS_WINDOW_MS / 1000),
    });
  }
  const question = encodeFields([textField(sealed), textField(JSON.stringify(solution))]);
  const fingerprint = await sha256Hex(question);
  const { spent, replay } = await spend(call, challenge.jti, {
    key: `round:${challenge.round}:${challenge.jti}`,
    bornAt: challenge.bornAt,
    fingerprint,
    answer: '',
  });
  if (!spent && replay === null) return { outcome: { step: 'answered-before' }, mechanical: false };
  const judgement = await judgeVisual(engine.keyring, challenge, solution);
  return { outcome: visualStep(challenge, judgement, settings.imageMaxRounds), mechanical: judgement.mechanical };
}
