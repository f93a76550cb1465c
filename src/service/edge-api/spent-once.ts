/**
 * What counts once, whichever isolate of an edge asks: a held submission, a signature of an agent, a further network of
 * a clearance, a wait.
 */
import * as z from 'zod/mini';
import { spend } from '../../store/spend-ledger/client/spend.ts';
import { countsStill, jsonRoute } from './edge-route.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { countUses } from '../../store/spend-ledger/client/count-uses.ts';
import { canonicalIp } from '../../address/ip.ts';
import { keyDay } from '../../captcha/seal/keyring.ts';
import { captchaEngine } from '../captcha/captcha-engine.ts';
import { networkTags, waitAllowed } from '../captcha/wait-budget.ts';

const SEAL_BODY_MAX_BYTES = 1024;
const sealRequest = z.strictObject({ id: z.uuid(), bornAt: z.int().check(z.nonnegative()) });

/**
 * `POST /edge/v1/seals/spend` `{id, bornAt}` → `{spent}`: an edge asks before it sends a held submission to the origin.
 * `spent` is true once per seal and instance, whichever isolate asks. The ledger is the one that spends tokens.
 */
export const spendSeal = jsonRoute({
  path: '/edge/v1/seals/spend',
  body: sealRequest,
  maxBytes: SEAL_BODY_MAX_BYTES,
  async answer({ store, instance, nowMs, waitUntil }, body) {
    const { id, bornAt } = body;
    if (!countsStill(bornAt, nowMs)) return { spent: false };
    const key = `seal:${instance.id}:${id}`;
    // The random end of the id chooses the object: ids that are ordered by time start alike.
    const { spent } = await spend({ store, waitUntil }, id.slice(-2), { key, bornAt, fingerprint: null, answer: '' });
    return { spent };
  },
});

const NONCE_BODY_MAX_BYTES = 4096;
/** An edge accepts a signature for so long after its end, because clocks differ. */
const SIGNATURE_SKEW_MS = 60_000;
/** A signature lives for a day, and may be from a clock that is ahead. */
const SIGNATURE_MAX_MS = 24 * 3_600_000 + SIGNATURE_SKEW_MS;

const nonceRequest = z.strictObject({
  agent: z.string().check(z.minLength(1), z.maxLength(1024)),
  keyid: z.string().check(z.regex(/^[\w-]{43}$/)),
  nonce: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Epoch milliseconds. */
  expiresAt: z.int().check(z.nonnegative()),
});

/**
 * `POST /edge/v1/bot-nonces/spend` `{agent, keyid, nonce, expiresAt}` → `{spent}`: an edge asks before it accepts a
 * signature whose policy wants each one to count once. `spent` is true for the first call, whichever isolate asks,
 * until the signature has expired.
 */
export const spendNonce = jsonRoute({
  path: '/edge/v1/bot-nonces/spend',
  body: nonceRequest,
  maxBytes: NONCE_BODY_MAX_BYTES,
  async answer({ store, instance, nowMs }, body) {
    const { agent, keyid, nonce, expiresAt } = body;
    const windowMs = expiresAt + SIGNATURE_SKEW_MS - nowMs;
    if (windowMs <= 0 || windowMs > SIGNATURE_MAX_MS + SIGNATURE_SKEW_MS) return { spent: false };
    const group = await sha256Hex(JSON.stringify([agent, keyid, nonce]));
    const together = { purpose: 'bot-nonce', site: instance.id, group, windowMs };
    return { spent: await countUses(store, together, [{ key: group, limit: 1 }]) };
  },
});

const NETWORK_BODY_MAX_BYTES = 1024;
const learnRequest = z.strictObject({
  jti: z.string().check(z.minLength(1), z.maxLength(256)),
  /** When the clearance was issued; epoch milliseconds. */
  bornAt: z.int().check(z.nonnegative()),
  /** Binding of the network and the user agent. */
  network: z.string().check(z.regex(/^[\w-]{22}$/)),
});

/**
 * `POST /edge/v1/clearances/learn` `{jti, bornAt, network}` → `{network}`: an edge asks before a clearance counts in a
 * network of the visitor's other address family. The answer is the network of the first call, whichever isolate made
 * it, so a copied cookie counts in one further network and no more. The ledger repeats the answer for ten minutes; by
 * then the visitor has a cookie with both networks, and a copy of the old cookie gets `null`.
 */
export const learnNetwork = jsonRoute({
  path: '/edge/v1/clearances/learn',
  body: learnRequest,
  maxBytes: NETWORK_BODY_MAX_BYTES,
  async answer({ store, instance, nowMs, waitUntil }, body) {
    const { jti, bornAt, network } = body;
    if (!countsStill(bornAt, nowMs)) return { network: null };
    const id = await sha256Hex(jti);
    // Every call asks the same question, so that each of them gets the answer of the first.
    const question = { key: `learn:${instance.id}:${id}`, bornAt, fingerprint: 'network', answer: network };
    const { spent, replay } = await spend({ store, waitUntil }, id, question);
    return { network: spent ? network : replay };
  },
});

const TICKET_BODY_MAX_BYTES = 1024;
const ticketRequest = z.strictObject({
  id: z.uuid(),
  bornAt: z.int().check(z.nonnegative()),
  ip: z.string().check(z.maxLength(64)),
});

/**
 * `POST /edge/v1/waits/take` `{id, bornAt, ip}` → `{taken}`: an edge asks before it lets in a visitor who only waited.
 * `taken` is true once per ticket, and within the budget of the network and the site. Waiting in the widget uses the
 * same budget, so many isolates together let in no more than one isolate would.
 */
export const takeWait = jsonRoute({
  path: '/edge/v1/waits/take',
  body: ticketRequest,
  maxBytes: TICKET_BODY_MAX_BYTES,
  async answer({ store, addressLookup, instance, nowMs, waitUntil }, body) {
    const { id, bornAt, ip } = body;
    const address = canonicalIp(ip);
    if (address === null || !countsStill(bornAt, nowMs)) return { taken: false };
    const key = `wait:${instance.id}:${id}`;
    const { spent } = await spend({ store, waitUntil }, id.slice(-2), { key, bornAt, fingerprint: null, answer: '' });
    // A ticket that is shown again must not use up the budget.
    if (!spent) return { taken: false };
    const { keyring } = captchaEngine({ store, addressLookup });
    const networks = await networkTags(keyring, keyDay(nowMs), address);
    return { taken: await waitAllowed(store, instance.globalSiteKey, networks) };
  },
});
