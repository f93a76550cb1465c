/**
 * A risk score and its parts: the sum of the weights of the detectors that fire, capped at 1, to two
 * decimals. From the parts anybody can add it up again.
 */
import { detectorBits, detectorsOf } from '../contract/edge/risk-detectors.ts';
import type { RiskDetector } from '../contract/edge/risk-detectors.ts';
import { detectors } from './detectors.ts';
import type { RiskFacts } from './facts.ts';

export interface RiskPart {
  detector: RiskDetector;
  weight: number;
}

export interface RiskScore {
  /** 0 to 1. */
  score: number;
  /** `detectorBits` of those that fired. */
  detectors: number;
}

export function scoreRisk(facts: RiskFacts): RiskScore {
  const fired = detectors.filter((detector) => detector.fires(facts));
  const sum = fired.reduce((total, { weight }) => total + weight, 0);
  return { score: Math.min(1, Math.round(sum * 100) / 100), detectors: detectorBits(fired.map(({ name }) => name)) };
}

/** The parts of a score that was kept as bits, in the table's order. */
export function riskParts(bits: number): RiskPart[] {
  const names = new Set<RiskDetector>(detectorsOf(bits));
  return detectors.filter(({ name }) => names.has(name)).map(({ name, weight }) => ({ detector: name, weight }));
}
