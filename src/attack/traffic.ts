/** Sums of what edges report of their requests, in steps of two seconds by the time of the request. */
export const STEP_MS = 2000;

export interface TrafficSums {
  requests: number;
  /** Challenged or blocked. */
  refused: number;
  originResponses: number;
  /** No response, or a status of 500 and above. */
  originErrors: number;
  originMs: number;
}

/** `step`: its time divided by `STEP_MS`. */
export interface TrafficStep extends TrafficSums {
  step: number;
}

export const noTraffic: Readonly<TrafficSums> = {
  requests: 0,
  refused: 0,
  originResponses: 0,
  originErrors: 0,
  originMs: 0,
};

export function addTraffic(sums: TrafficSums, more: TrafficSums): void {
  sums.requests += more.requests;
  sums.refused += more.refused;
  sums.originResponses += more.originResponses;
  sums.originErrors += more.originErrors;
  sums.originMs += more.originMs;
}

const NEAR_SHARE = 0.02;
const AROUND_SHARE = 0.2;

/**
 * How many requests of one network count within a step: a /24 or /56 for 2 % of the rate below which nothing is an
 * attack, and the /16 or /48 around it for 20 %. So at that rate an attack has 50 networks in five larger ones, and a
 * network that sends any number of requests, or has them refused, switches nothing on.
 */
export function networkShares(minimumRate: number): { near: number; around: number } {
  const minimum = (minimumRate * STEP_MS) / 1000;
  const shareOf = (share: number): number => Math.max(1, Math.floor(minimum * share));
  return { near: shareOf(NEAR_SHARE), around: shareOf(AROUND_SHARE) };
}
