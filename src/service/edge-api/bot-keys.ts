/**
 * `POST /edge/v1/bot-keys` `{agent, keyid}` → the keys of an agent that signs its requests. An edge asks behind the
 * response. `keyid` is the key that it misses, which may be newer than what the service has.
 */
import * as z from 'zod/mini';
import { agentAddress } from '../../bots/signatures/agent-address.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import { agentKeys } from '../proofs/agent-directories.ts';
import type { EdgeRoute } from './edge-route.ts';

const BODY_MAX_BYTES = 2048;

const keysRequest = z.strictObject({
  /** Address of the agent's directory, as `agentAddress` spells it. */
  agent: z.string().check(
    z.maxLength(1024),
    z.refine((value) => agentAddress(value)?.directory === value),
  ),
  keyid: z.optional(z.string().check(z.regex(/^[\w-]{43}$/))),
});

export const botKeys: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/bot-keys',
  async handler(call) {
    const body = await readBodyAs(keysRequest, call.request, BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { agent, keyid = null } = body.value;
    return jsonResponse(await agentKeys(call, agent, keyid));
  },
};
