/**
 * One management call: permission first, then the body, then the handler (design 9). The account is
 * always the key's own; body members `accountId` and `token` are accepted and mean nothing
 * (interface document 5.6).
 */
import type * as core from 'zod/v4/core';
import { appendManagementAudit } from '../../store/d1/management-audit.ts';
import { redacted } from './audit-trail/redact-body.ts';
import { authorise } from './authorise.ts';
import type { Caller } from './authorise.ts';
import { parseWithSchema } from '../http/body/parse-with-schema.ts';
import { BODY_MAX_BYTES, readBody } from '../http/body/read-body.ts';
import type { ParsedBody } from '../http/body/read-body.ts';
import { clientAddress } from '../http/client-address.ts';
import type { Operation } from './define-operation.ts';
import type { ServiceCall } from '../http/service-call.ts';
import { jsonResponse } from '../http/respond-error.ts';

const IGNORED_MEMBERS = ['accountId', 'token'] as const;

export async function runOperation(operation: Operation, call: ServiceCall): Promise<Response> {
  const { store, serviceUrl, request, requestId, nowMs, waitUntil } = call;
  const { account, apiKey } = await authorise(store, request, operation, nowMs);
  const given: ParsedBody =
    operation.method === 'GET' ? { kind: 'empty' } : await readBody(request, operation.maxBodyBytes ?? BODY_MAX_BYTES);
  const body = parseWithSchema(operation.body, withoutIgnored(given, operation.body));
  const answer = await operation.handler({
    store,
    account,
    apiKey,
    // The list of operations has forgotten each handler's own body type; the schema just proved it.
    body: body as never,
    requestId,
    nowMs,
    serviceUrl,
    waitUntil,
  });
  if (operation.access === 'write') await recordWrite(operation, call, { account, apiKey }, body);
  return answer instanceof Response ? answer : jsonResponse(answer);
}

/** The write is done and is answered as done: a trail that cannot be written is said in the log. */
async function recordWrite(operation: Operation, call: ServiceCall, caller: Caller, body: unknown): Promise<void> {
  const { store, signals, request, requestId, nowMs } = call;
  try {
    await appendManagementAudit(store, caller.account.id, {
      id: crypto.randomUUID(),
      at: nowMs,
      apiKeyId: caller.apiKey.id,
      apiKeyName: caller.apiKey.name,
      operation: operation.name,
      requestId,
      ip: clientAddress(signals, request),
      body: redacted(body),
    });
  } catch (error) {
    console.error(JSON.stringify({ event: 'audit-trail-failed', requestId, message: String(error) }));
  }
}

function withoutIgnored(body: ParsedBody, schema: core.$ZodType): ParsedBody {
  if (body.kind === 'empty' || typeof body.value !== 'object' || body.value === null || Array.isArray(body.value)) {
    return body;
  }
  const declared = (schema._zod.def as { shape?: Record<string, unknown> }).shape ?? {};
  const value = { ...(body.value as Record<string, unknown>) };
  for (const name of IGNORED_MEMBERS) if (!(name in declared)) delete value[name];
  return { kind: body.kind, value };
}
