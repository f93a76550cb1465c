/**
 * One round of a task that a person solves: counted, spent, judged. The visitor can also ask for sound instead of the
 * picture, or the other way round. That spends the round as well, and keeps the proof of work: one challenge allows it
 * once, so that nobody collects tasks until an easy one comes.
 */
import { judgeVisual } from '../../../captcha/visual/judge-visual.ts';
import { answeredTooSoon } from '../../../captcha/visual/human-time.ts';
import { otherForm, tooSoonStep, type VisualStep, visualStep } from '../../../captcha/visual/visual-progress.ts';
import type { SiteSettings } from '../../../contract/management/site-settings.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { RateLimitError } from '../../http/service-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import type { NetworkTag } from '../network-tags.ts';
import { countUses } from '../../../store/spend-ledger/client/count-uses.ts';
import { isOnlyAnswer, type SealedAnswer } from './answer-once.ts';

/**
 * Rounds answered per site and own network, over all isolates: about fifty visitors behind one address. A larger network
 * has `times` as many. There the work before each picture is what makes attempts dear, and it costs more in a burst.
 */
const ATTEMPTS_MAX = 120;
const ATTEMPTS_WINDOW_SECONDS = 600;

export type RoundOutcome = VisualStep | { step: 'answered-before' };

interface JudgedRound {
  outcome: RoundOutcome;
  mechanical: boolean;
  tooSoon: boolean;
}

export async function judgeRound(
  call: Pick<ServiceCall, 'store' | 'waitUntil' | 'nowMs'>,
  engine: CaptchaEngine,
  settings: SiteSettings,
  round: SealedAnswer & { networks: readonly NetworkTag[] },
): Promise<Result<JudgedRound, RateLimitError>> {
  const { challenge, solution, networks } = round;
  const group = networks.at(-1)?.tag ?? '';
  const together = { purpose: 'attempt', site: challenge.siteKey, group, windowMs: ATTEMPTS_WINDOW_SECONDS * 1000 };
  const attempts = networks.map(({ tag, times }) => ({ key: tag, limit: ATTEMPTS_MAX * times }));
  if (!(await countUses(call.store, together, attempts))) {
    const what = 'Too many attempts from this network';
    return failed({ kind: 'rate-limited', what, retryAfterSeconds: ATTEMPTS_WINDOW_SECONDS });
  }
  const shown = { mechanical: false, tooSoon: false };
  if (!(await isOnlyAnswer(call, `round:${challenge.round}`, round))) {
    return ok({ ...shown, outcome: { step: 'answered-before' } });
  }
  const { imageMaxRounds } = settings;
  const asked = solution['audio'];
  if (typeof asked === 'boolean') return ok({ ...shown, outcome: otherForm(challenge, asked, imageMaxRounds) });
  if (answeredTooSoon(challenge, call.nowMs)) {
    return ok({ ...shown, tooSoon: true, outcome: tooSoonStep(challenge, imageMaxRounds) });
  }
  const judgement = await judgeVisual(engine.keyring, challenge, solution);
  const outcome = visualStep(challenge, judgement, imageMaxRounds);
  return ok({ ...shown, outcome, mechanical: judgement.mechanical });
}
