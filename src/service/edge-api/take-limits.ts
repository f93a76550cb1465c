/**
 * `POST /edge/v1/limits/take` `{takes}` → `{takings}`: uses of exact limits, granted by the one object that counts the key.
 * A request waits for it. `null` among the takings: that object did not answer, or has no room for another key.
 */
import * as z from 'zod/mini';
import { LIMIT_TAKES_MAX } from '../../contract/edge/limits.ts';
import { limitAlgorithms } from '../../contract/vocabulary.ts';
import { takeLimits as takeFromLedger } from '../../store/limit-ledger/client.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';
import { limitCount, limitCounterKey, limitWindowMs } from './limit-fields.ts';

const BODY_MAX_BYTES = 32 * 1024;
const body = z.strictObject({
  takes: z
    .array(
      z.strictObject({
        key: limitCounterKey,
        algorithm: z.enum(limitAlgorithms),
        count: limitCount,
        windowMs: limitWindowMs,
        asked: limitCount,
      }),
    )
    .check(z.minLength(1), z.maxLength(LIMIT_TAKES_MAX)),
});

export const takeLimits: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/limits/take',
  async handler({ store, instance, request }) {
    const read = await readBodyAs(body, request, BODY_MAX_BYTES);
    if (!read.ok) return errorResponse(read.error);
    return jsonResponse({ takings: await takeFromLedger(store, instance.id, read.value.takes) });
  },
};
