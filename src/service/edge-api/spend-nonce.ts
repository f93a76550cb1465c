/**
 * `POST /edge/v1/bot-nonces/spend` `{agent, keyid, nonce, expiresAt}` → `{spent}`: an edge asks before it accepts a
 * signature whose policy wants each one to count once. `spent` is true for the first call, whichever isolate asks, until
 * the signature has expired.
 */
import * as z from 'zod/mini';
import { sha256Hex } from '../../bytes/hex.ts';
import { countUses } from '../../store/spend-ledger/client/count-uses.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

const BODY_MAX_BYTES = 4096;
/** An edge accepts a signature for so long after its end, because clocks differ. */
const CLOCK_SKEW_MS = 60_000;
/** A signature lives for a day, and may be from a clock that is ahead. */
const LIFETIME_MAX_MS = 24 * 3_600_000 + CLOCK_SKEW_MS;

const nonceRequest = z.strictObject({
  agent: z.string().check(z.minLength(1), z.maxLength(1024)),
  keyid: z.string().check(z.regex(/^[\w-]{43}$/)),
  nonce: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Epoch milliseconds. */
  expiresAt: z.int().check(z.nonnegative()),
});

export const spendNonce: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/bot-nonces/spend',
  async handler({ store, instance, request, nowMs }) {
    const body = await readBodyAs(nonceRequest, request, BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { agent, keyid, nonce, expiresAt } = body.value;
    const windowMs = expiresAt + CLOCK_SKEW_MS - nowMs;
    if (windowMs <= 0 || windowMs > LIFETIME_MAX_MS + CLOCK_SKEW_MS) return jsonResponse({ spent: false });
    const group = await sha256Hex(JSON.stringify([agent, keyid, nonce]));
    const together = { purpose: 'bot-nonce', site: instance.id, group, windowMs };
    return jsonResponse({ spent: await countUses(store, together, [{ key: group, limit: 1 }]) });
  },
};
