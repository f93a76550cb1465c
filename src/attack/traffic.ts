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

export interface AttackNetworks {
  /** /24 or /56. */
  near: string;
  /** The /16 or /48 around it. */
  around: string;
}

/** What one network sent in a step. */
export type NetworkTraffic = AttackNetworks & TrafficSums;

/**
 * A step as an isolate reports it. Its networks come apart, so that they can be weighed over all isolates. Those that are
 * too many for one report are in the sums.
 */
export interface ReportedStep extends TrafficStep {
  networks?: NetworkTraffic[];
}

export const noTraffic: Readonly<TrafficSums> = {
  requests: 0,
  refused: 0,
  originResponses: 0,
  originErrors: 0,
  originMs: 0,
};

/** `part`: of `more` that counts. */
export function addTraffic(sums: TrafficSums, more: TrafficSums, part = 1): void {
  sums.requests += more.requests * part;
  sums.refused += more.refused * part;
  sums.originResponses += more.originResponses * part;
  sums.originErrors += more.originErrors * part;
  sums.originMs += more.originMs * part;
}
