/**
 * `POST /edge/v1/seals/spend` `{id, bornAt}` → `{spent}`: an edge asks before it sends a held
 * submission to the origin (design 3.3). True once per seal and instance, wherever it is asked, by the
 * same ledger that spends tokens.
 */
import * as z from 'zod/mini';
import { parseWithSchema } from '../http/body/parse-with-schema.ts';
import { readBody } from '../http/body/read-body.ts';
import { spend } from '../../store/spend-ledger/client/spend.ts';
import { jsonResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

const BODY_MAX_BYTES = 1024;
/** An edge's clock ahead of ours by more is wrong; without the bound each future epoch would keep a table for ever. */
const CLOCK_SKEW_MS = 60_000;
/** A seal lives half an hour at the edge; what is older cannot be sent, so it need not be spent. */
const SEAL_MAX_AGE_MS = 45 * 60_000;
const question = z.strictObject({ id: z.uuid(), bornAt: z.int().check(z.nonnegative()) });

export const spendSeal: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/seals/spend',
  async handler({ store, instance, request, nowMs, waitUntil }) {
    const { id, bornAt } = parseWithSchema(question, await readBody(request, BODY_MAX_BYTES));
    if (bornAt > nowMs + CLOCK_SKEW_MS || bornAt < nowMs - SEAL_MAX_AGE_MS) return jsonResponse({ spent: false });
    const key = `seal:${instance.id}:${id}`;
    // The random end picks the object: the front of a time-ordered id is the same for all.
    const { spent } = await spend({ store, waitUntil }, id.slice(-2), { key, bornAt, fingerprint: null, answer: '' });
    return jsonResponse({ spent });
  },
};
