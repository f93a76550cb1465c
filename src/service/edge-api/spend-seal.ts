/**
 * `POST /edge/v1/seals/spend` `{id, bornAt}` → `{spent}`: an edge asks before it sends a held submission to the origin.
 * `spent` is true once per seal and instance, whichever isolate asks. The ledger is the one that spends tokens.
 */
import * as z from 'zod/mini';
import { spend } from '../../store/spend-ledger/client/spend.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

const BODY_MAX_BYTES = 1024;
/**
 * The clock of an edge may be ahead by this much. Without a bound, each future epoch would keep a table in the ledger
 * that is never dropped.
 */
const CLOCK_SKEW_MS = 60_000;
/** A seal lives half an hour at the edge. An older one cannot be sent, so it need not be spent. */
const SEAL_MAX_AGE_MS = 45 * 60_000;
const sealRequest = z.strictObject({ id: z.uuid(), bornAt: z.int().check(z.nonnegative()) });

export const spendSeal: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/seals/spend',
  async handler({ store, instance, request, nowMs, waitUntil }) {
    const body = await readBodyAs(sealRequest, request, BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { id, bornAt } = body.value;
    if (bornAt > nowMs + CLOCK_SKEW_MS || bornAt < nowMs - SEAL_MAX_AGE_MS) return jsonResponse({ spent: false });
    const key = `seal:${instance.id}:${id}`;
    // The random end of the id chooses the object: ids that are ordered by time start alike.
    const { spent } = await spend({ store, waitUntil }, id.slice(-2), { key, bornAt, fingerprint: null, answer: '' });
    return jsonResponse({ spent });
  },
};
