/**
 * `POST /edge/v1/limits/report` `{windowMs, counters}` → `{sums}`: an isolate reports what it counted and gets the sums of
 * all isolates, in the same order. The caller's instance is part of every counter, so an edge can count only for itself.
 */
import * as z from 'zod/mini';
import { LIMIT_COUNTERS_MAX } from '../../contract/edge/limits.ts';
import { countLimits } from '../../store/limit-ledger/client.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';
import { limitCount, limitCounterKey, limitWindowMs } from './limit-fields.ts';

const BODY_MAX_BYTES = 32 * 1024;
const counter = z.strictObject({
  key: limitCounterKey,
  window: z.int().check(z.nonnegative()),
  count: limitCount,
  windowMs: z.optional(limitWindowMs),
  drains: z.optional(limitCount),
});
const report = z.strictObject({
  windowMs: limitWindowMs,
  counters: z.array(counter).check(z.minLength(1), z.maxLength(LIMIT_COUNTERS_MAX)),
});

export const reportLimits: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/limits/report',
  async handler({ store, instance, request }) {
    const body = await readBodyAs(report, request, BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { windowMs, counters } = body.value;
    return jsonResponse({ sums: await countLimits(store, instance.id, windowMs, counters) });
  },
};
