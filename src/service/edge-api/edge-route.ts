/** The shape of a route of the edge API. Its client JWT is verified, and its instance active, before the handler runs. */
import type { CallingEdge } from '../http/authenticate.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { ServiceCall } from '../http/service-call.ts';
import type * as core from 'zod/v4/core';

/** The clock of an edge may be ahead by this much. */
const CLOCK_SKEW_MS = 60_000;
/** Longer than what counts once lives at an edge. The ledger remembers what was spent for longer than this. */
const ONCE_MAX_AGE_MS = 45 * 60_000;

export type EdgeCall = ServiceCall & CallingEdge;

export interface EdgeRoute {
  method: 'GET' | 'POST';
  /** Path below the service's address, with `:name` for a parameter, such as `/edge/v1/rulesets/:hash`. */
  path: string;
  handler(call: EdgeCall, params: Readonly<Record<string, string>>): Promise<Response>;
}

/** A route that takes JSON, and answers with JSON or with a response of its own. */
export function jsonRoute<Body extends core.$ZodType>(route: {
  path: string;
  body: Body;
  maxBytes: number;
  answer(call: EdgeCall, body: core.output<Body>): Promise<object>;
}): EdgeRoute {
  return {
    method: 'POST',
    path: route.path,
    async handler(call) {
      const body = await readBodyAs(route.body, call.request, route.maxBytes);
      if (!body.ok) return errorResponse(body.error);
      const answer = await route.answer(call, body.value);
      return answer instanceof Response ? answer : jsonResponse(answer);
    },
  };
}

/**
 * Whether what counts once may still count. One from far ahead would keep a table in the ledger that is never dropped;
 * what is older cannot be used at the edge, so it need not be spent.
 */
export function countsStill(bornAt: number, nowMs: number): boolean {
  return bornAt <= nowMs + CLOCK_SKEW_MS && bornAt >= nowMs - ONCE_MAX_AGE_MS;
}
