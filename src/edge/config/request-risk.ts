/**
 * What one request shows about its visitor, with the names and weights that the service sent in the config. A detector
 * without a name or a weight there is not evaluated, so an edge follows a service of another release.
 */
import { hasDetector } from '../../contract/edge/detector-set.ts';
import { requestConditions } from '../../risk/headers/request-conditions.ts';
import type { RequestDetector } from '../../risk/headers/request-conditions.ts';
import type { RiskFacts } from '../../risk/headers/request-facts.ts';

export interface RiskReading {
  /** 0 to 1. */
  score: number;
  /** `detectorBits` of the score's parts. */
  detectors: number;
}

/** Joins what the request shows to what is known of its session, if there is one. */
export type RequestRisk = (facts: RiskFacts, session: RiskReading | null) => RiskReading | null;

interface Detector {
  place: number;
  weight: number;
  fires: (facts: RiskFacts) => boolean;
}

const NOTHING: RiskReading = { score: 0, detectors: 0 };

/** `weights` has the weight of each of the `names`, by place. */
export function compileRequestRisk(names: readonly string[], weights: readonly number[]): RequestRisk {
  const detectors = names.flatMap((name, place): Detector[] => {
    const weight = weights[place] ?? 0;
    return weight > 0 && name in requestConditions
      ? [{ place, weight, fires: requestConditions[name as RequestDetector] }]
      : [];
  });
  if (detectors.length === 0) return (_, session) => session;
  return function requestRisk(facts, session) {
    let joined = session ?? NOTHING;
    for (const { place, weight, fires } of detectors) {
      // One sign counts once, whether the session, this request or both show it.
      if (!fires(facts) || hasDetector(joined.detectors, place)) continue;
      joined = { score: joined.score + weight, detectors: joined.detectors + 2 ** place };
    }
    return joined === session || joined === NOTHING ? joined : { ...joined, score: rounded(joined.score) };
  };
}

function rounded(score: number): number {
  return Math.min(1, Math.round(score * 100) / 100);
}
