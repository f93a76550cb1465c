/**
 * `POST /edge/v1/waits/take` `{id, bornAt, ip}` → `{taken}`: an edge asks before it lets in a visitor who only waited.
 * `taken` is true once per ticket, and within the budget of the network and the site. Waiting in the widget uses the
 * same budget, so many isolates together let in no more than one isolate would.
 */
import * as z from 'zod/mini';
import { canonicalIp } from '../../address/ip.ts';
import { keyDay } from '../../captcha/seal/keyring.ts';
import { spend } from '../../store/spend-ledger/client/spend.ts';
import { captchaEngine } from '../captcha/captcha-engine.ts';
import { networkTags } from '../captcha/network-tags.ts';
import { waitAllowed } from '../captcha/wait-budget.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

const BODY_MAX_BYTES = 1024;
/** The clock of an edge may be ahead by this much. */
const CLOCK_SKEW_MS = 60_000;
/** Longer than a ticket or a held submission lives. The ledger remembers a ticket for longer than this. */
const TICKET_MAX_AGE_MS = 45 * 60_000;
const ticketRequest = z.strictObject({
  id: z.uuid(),
  bornAt: z.int().check(z.nonnegative()),
  ip: z.string().check(z.maxLength(64)),
});

export const takeWait: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/waits/take',
  async handler({ store, addressLookup, instance, request, nowMs, waitUntil }) {
    const body = await readBodyAs(ticketRequest, request, BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { id, bornAt, ip } = body.value;
    const address = canonicalIp(ip);
    const isCurrent = bornAt <= nowMs + CLOCK_SKEW_MS && bornAt >= nowMs - TICKET_MAX_AGE_MS;
    if (address === null || !isCurrent) return jsonResponse({ taken: false });
    const key = `wait:${instance.id}:${id}`;
    const { spent } = await spend({ store, waitUntil }, id.slice(-2), { key, bornAt, fingerprint: null, answer: '' });
    // A ticket that is shown again must not use up the budget.
    if (!spent) return jsonResponse({ taken: false });
    const { keyring } = captchaEngine({ store, addressLookup });
    const networks = await networkTags(keyring, keyDay(nowMs), address);
    return jsonResponse({ taken: await waitAllowed(store, instance.globalSiteKey, networks) });
  },
};
