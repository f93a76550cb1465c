/** The facts of a challenge together with what solving a round showed: more detectors, a higher score, a refusal. */
import type { SealedFacts } from '../../../captcha/seal/sealed-facts.ts';
import { scoreSolving, type SolvingSigns } from '../../../risk/captcha-score.ts';

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
