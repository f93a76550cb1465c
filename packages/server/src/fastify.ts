/**
 * Hooks for Fastify 5: `requireToken` as `preHandler`, when the body has been parsed, and `requireSignature` as
 * `onRequest`, before it is. Handlers find the result in `request.gatehouse`.
 */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, preHandlerAsyncHookHandler } from 'fastify';
import {
  type Refusal,
  refusalOf,
  SIGNATURE_REFUSAL,
  type SignatureGuardOptions,
  type TokenOptions,
  written,
} from './middleware/guard.ts';
import { parsedField } from './middleware/parsed-field.ts';
import { verifyField } from './middleware/verify-field.ts';
import { checkSignature, type SignatureResult } from './signature/check-signature.ts';
import type { VerifyResult } from './verify/verify-result.ts';

declare module 'fastify' {
  interface FastifyRequest {
    gatehouse?: VerifyResult;
    gatehouseSignature?: SignatureResult;
  }
}

/** `onRefused` sends with `reply` and returns it. */
export interface FastifyCall {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Lets a submission through whose token verifies. */
export function requireToken(options: TokenOptions<FastifyCall, FastifyReply>): preHandlerAsyncHookHandler {
  return async function requireTokenOfRequest(request, reply) {
    const call = { request, reply };
    const result = await verifyField(options.verifier, parsedField(request, options), options.describe?.(call));
    request.gatehouse = result;
    if (result.pass) return undefined;
    return options.onRefused ? options.onRefused(result, call) : send(call, refusalOf(result));
  };
}

/** Lets a request through that the gate signed. */
export function requireSignature(options: SignatureGuardOptions<FastifyCall, FastifyReply>): onRequestAsyncHookHandler {
  return async function requireSignatureOfRequest(request, reply) {
    const { method, headers, originalUrl: url } = request;
    const result = await checkSignature({ method, url, headers }, options);
    request.gatehouseSignature = result;
    if (result.valid) return undefined;
    return options.onRefused
      ? options.onRefused(result, { request, reply })
      : send({ request, reply }, SIGNATURE_REFUSAL);
  };
}

function send({ request, reply }: FastifyCall, refusal: Refusal): FastifyReply {
  const { status, headers, text } = written(refusal, request.headers.accept);
  return reply.code(status).headers(headers).send(text);
}
