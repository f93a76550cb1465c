/**
 * `POST /edge/v1/waits/take` `{id, bornAt, ip}` → `{taken}`: an edge asks before it lets somebody in who
 * only waited (design 5). True once per ticket and within the budget of the network and the site, the
 * same that waiting in the widget draws on, so that many isolates give no more than one.
 */
import * as z from 'zod/mini';
import { keyDay } from '../../captcha/seal/keyring.ts';
import { addressPrefix } from '../../address/visitor-binding.ts';
import { visitorTag } from '../../captcha/seal/visitor-tag.ts';
import { canonicalIp } from '../../address/ip.ts';
import { parseWithSchema } from '../http/body/parse-with-schema.ts';
import { readBody } from '../http/body/read-body.ts';
import { captchaEngine } from '../captcha/captcha-engine.ts';
import { spend } from '../../store/spend-ledger/client/spend.ts';
import { waitAllowed } from '../captcha/wait-budget.ts';
import { jsonResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

const BODY_MAX_BYTES = 1024;
/** An edge's clock ahead of ours by more is wrong. */
const CLOCK_SKEW_MS = 60_000;
/** Above the life of a ticket and of a held submission; the ledger remembers for longer. */
const TICKET_MAX_AGE_MS = 45 * 60_000;
const question = z.strictObject({
  id: z.uuid(),
  bornAt: z.int().check(z.nonnegative()),
  ip: z.string().check(z.maxLength(64)),
});

export const takeWait: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/waits/take',
  async handler({ store, addressLookup, instance, request, nowMs, waitUntil }) {
    const { id, bornAt, ip } = parseWithSchema(question, await readBody(request, BODY_MAX_BYTES));
    const address = canonicalIp(ip);
    const isOfNow = bornAt <= nowMs + CLOCK_SKEW_MS && bornAt >= nowMs - TICKET_MAX_AGE_MS;
    if (address === null || !isOfNow) return jsonResponse({ taken: false });
    const key = `wait:${instance.id}:${id}`;
    const { spent } = await spend({ store, waitUntil }, id.slice(-2), { key, bornAt, fingerprint: null, answer: '' });
    // A ticket shown again uses up nobody's budget.
    if (!spent) return jsonResponse({ taken: false });
    const prefix = addressPrefix(address);
    const tag = await visitorTag(captchaEngine({ store, addressLookup }).keyring, keyDay(nowMs), 'prefix', prefix);
    return jsonResponse({ taken: await waitAllowed(store, instance.globalSiteKey, tag) });
  },
};
