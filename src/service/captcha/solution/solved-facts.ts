/** The facts of a challenge, with what solving it showed: more detectors, a higher score, a refusal. */
import type { SealedFacts } from '../../../captcha/seal/sealed-facts.ts';

export interface SolvingSigns {
  /** The solution came from another network than the challenge went to. */
  moved: boolean;
  /** Faster than a browser can. */
  tooFast: boolean;
  /** The piece moved as no hand does. */
  mechanical: boolean;
  /** The field that people leave empty was filled in. */
  honeypot: boolean;
}

const weights = { moved: 0.2, tooFast: 0.3, mechanical: 0.2, honeypot: 1 } as const;
const names = {
  moved: 'address-changed',
  tooFast: 'native-solver',
  mechanical: 'mechanical-path',
  honeypot: 'honeypot',
} as const;

export function solvedFacts(facts: SealedFacts, signs: SolvingSigns): SealedFacts {
  const fired = (['moved', 'tooFast', 'mechanical', 'honeypot'] as const).filter((name) => signs[name]);
  if (fired.length === 0) return facts;
  const score = Math.min(1, facts.score + fired.reduce((sum, name) => sum + weights[name], 0));
  return {
    ...facts,
    score: Math.round(score * 100) / 100,
    detectors: [...facts.detectors, ...fired.map((name) => names[name])],
    // Said at verification only, so that a script cannot tell which field gave it away.
    refusal: facts.refusal ?? (signs.honeypot ? 'API.USER_NOT_VERIFIED' : null),
  };
}
