/**
 * What a challenge costs now: the difficulty that the site and the risk ask for, what solved challenges add to it, and
 * attack mode. It is read where a challenge is made, and again where its solution comes in.
 */
import { ATTACK_STEPS, isUnderAttack } from '../../../attack/attack-state.ts';
import { POW_DIFFICULTY_MAX } from '../../../captcha/plan/level-prices.ts';
import { SolvedPrice } from '../../../captcha/plan/solved-price.ts';
import { CAPTCHA_TARIFF, CLEARANCE_TARIFF } from '../../../captcha/plan/tariffs.ts';
import { CLEARANCE_ACTION } from '../../../contract/captcha/challenge-constants.ts';
import type { Visitor } from '../visitor.ts';

const captchaPrice = new SolvedPrice(CAPTCHA_TARIFF);
const clearancePrice = new SolvedPrice(CAPTCHA_TARIFF, CLEARANCE_TARIFF);

export function priceOf(action: string): SolvedPrice {
  return action === CLEARANCE_ACTION ? clearancePrice : captchaPrice;
}

/** `halfSteps`: what solved challenges add. */
export function powPrice(
  powDifficulty: number,
  halfSteps: number,
  { instance }: Pick<Visitor, 'instance'>,
  nowMs: number,
): number {
  const attackSteps = instance && isUnderAttack(instance.attack, nowMs) ? ATTACK_STEPS : 0;
  return Math.min(POW_DIFFICULTY_MAX, powDifficulty + (halfSteps + attackSteps) / 2);
}
