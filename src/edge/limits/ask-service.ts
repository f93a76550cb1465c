/** The edge's questions to the service's `LimitLedger`: reports behind responses, and takes that a request waits for. */
import * as z from 'zod/mini';
import type { LimitCounter, LimitSums, LimitTake, LimitTakings } from '../../contract/edge/limits.ts';
import { parseJson } from '../../bytes/json.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import { ok } from '../../result.ts';
import { type Asked, UNREADABLE } from '../feed/upstream.ts';

/** Behind a response, so nobody waits for it. */
const REPORT_TIMEOUT_MS = 3000;
/** A request waits. The object may be on another continent, or starting. */
const TAKE_TIMEOUT_MS = 3000;
/** Some numbers for each counter. */
const ANSWER_MAX_BYTES = 8192;

const uses = z.int().check(z.nonnegative());
const reportAnswer = z.object({ sums: z.array(z.tuple([uses, uses])) });
const takeAnswer = z.object({ takings: z.array(z.nullable(z.tuple([uses, uses, uses]))) });

/** The sums are those of the counters, in their order. */
export function reportLimits(
  service: Pick<ServiceClient, 'ask'>,
  counters: readonly LimitCounter[],
): Promise<Asked<LimitSums>> {
  const read = (body: Uint8Array) => {
    const answer = reportAnswer.safeParse(parseJson(body));
    return answer.success && answer.data.sums.length === counters.length ? ok(answer.data.sums) : UNREADABLE;
  };
  const call = { path: '/edge/v1/limits/report', timeoutMs: REPORT_TIMEOUT_MS, maxBytes: ANSWER_MAX_BYTES, read };
  return service.ask<LimitSums>(call, { windowMs: counters[0]?.windowMs, counters });
}

/** The takings are those of the takes, in their order. */
export function takeLimits(
  service: Pick<ServiceClient, 'ask'>,
  takes: readonly LimitTake[],
): Promise<Asked<LimitTakings>> {
  const read = (body: Uint8Array) => {
    const answer = takeAnswer.safeParse(parseJson(body));
    return answer.success && answer.data.takings.length === takes.length ? ok(answer.data.takings) : UNREADABLE;
  };
  const call = { path: '/edge/v1/limits/take', timeoutMs: TAKE_TIMEOUT_MS, maxBytes: ANSWER_MAX_BYTES, read };
  return service.ask<LimitTakings>(call, { takes });
}
