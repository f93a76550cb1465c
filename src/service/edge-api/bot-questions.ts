/** What edges ask about bots that come to them: the keys of agents, and whether an address is a bot's. */
import * as z from 'zod/mini';
import { agentAddress } from '../../bots/signatures/agent-address.ts';
import { agentKeys } from '../proofs/agent-directories.ts';
import { jsonRoute } from './edge-route.ts';
import { canonicalIp } from '../../address/ip.ts';
import { ExpiringMap } from '../../bytes/bounded-map.ts';
import type { BotNameAnswer } from '../../contract/edge/bot-calls.ts';
import { botCatalogue } from '../bots/bot-catalogue.ts';
import { jsonResponse } from '../http/json-response.ts';
import { RateLimit } from '../http/rate-limit.ts';
import { errorResponse } from '../http/respond-error.ts';
import { resolveName } from '../proofs/dns-over-https.ts';
import { provedByName } from '../proofs/reverse-dns.ts';

const KEYS_BODY_MAX_BYTES = 2048;

const keysRequest = z.strictObject({
  /** Address of the agent's directory, as `agentAddress` spells it. */
  agent: z.string().check(
    z.maxLength(1024),
    z.refine((value) => agentAddress(value)?.directory === value),
  ),
  keyid: z.optional(z.string().check(z.regex(/^[\w-]{43}$/))),
});

/**
 * `POST /edge/v1/bot-keys` `{agent, keyid}` → the keys of an agent that signs its requests. An edge asks behind the
 * response. `keyid` is the key that it misses, which may be newer than what the service has.
 */
export const askBotKeys = jsonRoute({
  path: '/edge/v1/bot-keys',
  body: keysRequest,
  maxBytes: KEYS_BODY_MAX_BYTES,
  async answer(call, body) {
    const { agent, keyid = null } = body;
    return await agentKeys(call, agent, keyid);
  },
});

const PROOFS_BODY_MAX_BYTES = 1024;
/** Per minute, instance and isolate. Each may be four look-ups. */
const PROOFS_PER_MINUTE = 600;
/** About 200 bytes each. Edges remember too, each for itself. */
const REMEMBERED_MAX = 10_000;
const DAY_MS = 86_400_000;

const proofRequest = z.strictObject({
  bot: z.string().check(z.maxLength(64)),
  ip: z.string().check(z.maxLength(45)),
});
const limit = new RateLimit(PROOFS_PER_MINUTE, 'Too many addresses to look up');
const remembered = new ExpiringMap<{ holds: boolean; untilMs: number }>(REMEMBERED_MAX, DAY_MS);
const masksOf = new Map(botCatalogue.bots.flatMap(({ id, dns }) => (dns === undefined ? [] : [[id, dns] as const])));

/**
 * `POST /edge/v1/bot-proofs` `{bot, ip}` → `{holds, ttlSeconds}`: whether the address is one of the bot's, by its names
 * in DNS. An edge asks behind the response, for requests that call themselves by the bot's name.
 */
export const askBotProofs = jsonRoute({
  path: '/edge/v1/bot-proofs',
  body: proofRequest,
  maxBytes: PROOFS_BODY_MAX_BYTES,
  async answer({ instance, outbound, nowMs }, body) {
    const masks = masksOf.get(body.bot);
    const ip = canonicalIp(body.ip);
    if (masks === undefined || ip === null) return answer({ holds: false, ttlSeconds: 3600 });
    const name = `${body.bot} ${ip}`;
    const known = remembered.get(name, nowMs);
    if (known !== undefined && known.untilMs > nowMs) {
      return answer({ holds: known.holds, ttlSeconds: Math.ceil((known.untilMs - nowMs) / 1000) });
    }
    const refused = limit.take(instance.id, nowMs);
    if (refused) return errorResponse(refused);
    const proof = await provedByName(ip, masks, (host, type) => resolveName(outbound.resolverUrl, host, type));
    if (proof.holds !== null) {
      remembered.set(name, { holds: proof.holds, untilMs: nowMs + proof.ttlSeconds * 1000 }, nowMs);
    }
    return answer(proof);
  },
});

function answer(proof: BotNameAnswer): Response {
  return jsonResponse(proof);
}
