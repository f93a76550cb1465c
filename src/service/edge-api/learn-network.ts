/**
 * `POST /edge/v1/clearances/learn` `{jti, bornAt, network}` → `{network}`: an edge asks before a clearance counts in a
 * network of the visitor's other address family. The answer is the network of the first call, whichever isolate made it,
 * so a copied cookie counts in one further network and no more. The ledger repeats the answer for ten minutes; by then
 * the visitor has a cookie with both networks, and a copy of the old cookie gets `null`.
 */
import * as z from 'zod/mini';
import { sha256Hex } from '../../bytes/hex.ts';
import { spend } from '../../store/spend-ledger/client/spend.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

const BODY_MAX_BYTES = 1024;
/** The clock of an edge may be ahead by this much. */
const CLOCK_SKEW_MS = 60_000;
/** The ledger remembers what was spent for longer. An older clearance learns nothing. */
const CLEARANCE_MAX_AGE_MS = 45 * 60_000;
const learnRequest = z.strictObject({
  jti: z.string().check(z.minLength(1), z.maxLength(256)),
  /** When the clearance was issued; epoch milliseconds. */
  bornAt: z.int().check(z.nonnegative()),
  /** Binding of the network and the user agent. */
  network: z.string().check(z.regex(/^[\w-]{22}$/)),
});

export const learnNetwork: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/clearances/learn',
  async handler({ store, instance, request, nowMs, waitUntil }) {
    const body = await readBodyAs(learnRequest, request, BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { jti, bornAt, network } = body.value;
    if (bornAt > nowMs + CLOCK_SKEW_MS || bornAt < nowMs - CLEARANCE_MAX_AGE_MS) return jsonResponse({ network: null });
    const id = await sha256Hex(jti);
    // Every call asks the same question, so that each of them gets the answer of the first.
    const question = { key: `learn:${instance.id}:${id}`, bornAt, fingerprint: 'network', answer: network };
    const { spent, replay } = await spend({ store, waitUntil }, id, question);
    return jsonResponse({ network: spent ? network : replay });
  },
};
