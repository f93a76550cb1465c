/**
 * One round of a task that a person solves: counted, spent, judged. The visitor can also ask for sound instead of the
 * picture, or the other way round. That spends the round as well, and keeps the proof of work: one challenge allows it
 * once, so that nobody collects tasks until an easy one comes.
 */
import {
  answeredTooSoon,
  judgeVisual,
  otherForm,
  unjudgedStep,
  type VisualStep,
  visualStep,
} from '../../../captcha/visual/judge-visual.ts';
import type { SiteSettings } from '../../../contract/management/site-settings.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { RateLimitError } from '../../http/service-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import type { NetworkTag } from '../wait-budget.ts';
import { countUses } from '../../../store/spend-ledger/client/count-uses.ts';
import { encodeFields, textField } from '../../../captcha/seal/field-encoding.ts';
import { sha256Hex } from '../../../bytes/hex.ts';
import type { SealedChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import { spend } from '../../../store/spend-ledger/client/spend.ts';
import type { SealedFacts } from '../../../captcha/seal/sealed-facts.ts';
import { scoreSolving, type SolvingSigns } from '../../../risk/captcha-score.ts';

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
  round: TaskAnswer & { isPaid: boolean },
): Promise<Result<JudgedRound, RateLimitError>> {
  const { challenge, solution, networks, isPaid } = round;
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
    return ok({ ...shown, tooSoon: true, outcome: unjudgedStep(challenge, imageMaxRounds) });
  }
  // The widget waits for the work beside the task before it sends an answer.
  if (!isPaid) return ok({ ...shown, outcome: unjudgedStep(challenge, imageMaxRounds) });
  const judgement = await judgeVisual(engine.keyring, challenge, solution);
  const outcome = visualStep(challenge, judgement, imageMaxRounds);
  return ok({ ...shown, outcome, mechanical: judgement.mechanical });
}

/** The widget repeats a call twice. Each repetition of a right answer draws a picture, so there are no more. */
const REPEATS_MAX = 2;
const REPEATS_WINDOW_MS = 600_000;

interface SealedAnswer {
  challenge: SealedChallenge;
  sealed: string;
  solution: Readonly<Record<string, unknown>>;
}

export interface TaskAnswer extends SealedAnswer {
  networks: readonly NetworkTag[];
}

/**
 * A round can be answered once, right or wrong: a program would try all answers on one picture otherwise, or collect
 * many pictures for one proof of work. The same answer may come again, as after a lost connection. It then gets the
 * same response, and the same picture to the last bit. `name`: of the round within its challenge. `false`: answered
 * before, in another way or too often.
 */
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

/** The facts of a challenge together with what solving a round showed: more detectors, a higher score, a refusal. */
export function solvedFacts(facts: SealedFacts, signs: SolvingSigns): SealedFacts {
  const { score, detectors } = scoreSolving(facts, signs);
  return {
    ...facts,
    score,
    detectors: [...facts.detectors, ...detectors],
    // Reported at verification only, so that a script cannot learn which field gave it away.
    refusal: facts.refusal ?? (signs.honeypot ? 'API.USER_NOT_VERIFIED' : null),
  };
}
