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
