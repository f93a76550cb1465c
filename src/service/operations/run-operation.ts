/**
 * One management call: permission first, then the body, then the handler. The account is always the account of the API
 * key or of the session. The body fields `accountId` and `token` are accepted and ignored: clients of other services with this API send
 * them.
 */
import type * as core from 'zod/v4/core';
import { ok, type Result } from '../../result.ts';
import { appendManagementAudit } from '../../store/d1/management-audit.ts';
import { type ParsedBody, parseWithSchema } from '../http/body/parse-with-schema.ts';
import { BODY_MAX_BYTES, readBody } from '../http/body/read-body.ts';
import { clientAddress } from '../http/client-address.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { ServiceCall } from '../http/service-call.ts';
import type { BodyError } from '../http/service-error.ts';
import { ChangeNotes } from './change-notes.ts';
import { redactedBody } from './redacted-body.ts';
import { authorise, type Caller } from './authorise.ts';
import type { Operation } from './define-operation.ts';
import { operationRefusal } from './operation-error.ts';

const IGNORED_FIELDS = ['accountId', 'token'] as const;

export async function runOperation(operation: Operation, call: ServiceCall): Promise<Response> {
  const { store, serviceUrl, outbound, requestId, nowMs, waitUntil } = call;
  const caller = await authorise(call, operation);
  if (!caller.ok) return errorResponse(caller.error);
  const body = await bodyFor(operation, call.request);
  if (!body.ok) return errorResponse(body.error);
  const { account, principal } = caller.value;
  const responseHeaders = new Headers();
  const changes = new ChangeNotes();
  let result: Response | object;
  try {
    // The table of operations does not keep the body type of each handler. The schema has just proved it.
    const typedBody = body.value as never;
    result = await operation.handler({
      store,
      account,
      principal,
      body: typedBody,
      requestId,
      nowMs,
      serviceUrl,
      outbound,
      waitUntil,
      access: operation.access,
      responseHeaders,
      changes,
    });
  } catch (error) {
    const refusal = operationRefusal(error);
    if (refusal === null) throw error;
    return errorResponse(refusal);
  }
  if (operation.access === 'write') await recordWrite(operation, call, caller.value, body.value, changes);
  const response = result instanceof Response ? result : jsonResponse(result);
  for (const [name, value] of responseHeaders) response.headers.set(name, value);
  return response;
}

async function bodyFor(
  { method, body, maxBodyBytes }: Operation,
  request: Request,
): Promise<Result<unknown, BodyError>> {
  const read =
    method === 'GET'
      ? ok<ParsedBody>({ kind: 'empty' })
      : await readBody(request, { maxBytes: maxBodyBytes ?? BODY_MAX_BYTES });
  return read.ok ? parseWithSchema(body, withoutIgnored(read.value, body)) : read;
}

/** The write has happened, so the response says so, even when the audit trail cannot be written. The log has the rest. */
async function recordWrite(
  operation: Operation,
  call: ServiceCall,
  caller: Caller,
  body: unknown,
  changes: ChangeNotes,
): Promise<void> {
  const { store, signals, request, requestId, nowMs } = call;
  const { kind, id, name } = caller.principal;
  try {
    await appendManagementAudit(store, caller.account.id, {
      id: crypto.randomUUID(),
      at: nowMs,
      apiKeyId: kind === 'api-key' ? id : null,
      apiKeyName: kind === 'api-key' ? name : null,
      userEmail: kind === 'user' ? id : null,
      userName: kind === 'user' ? name : null,
      operation: operation.name,
      requestId,
      ip: clientAddress(signals, request),
      body: redactedBody(body),
      changes: changes.noted(),
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
  for (const name of IGNORED_FIELDS) if (!(name in declared)) delete value[name];
  return { kind: body.kind, value };
}
