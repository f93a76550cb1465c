/**
 * A walk through every operation of the API, whose calls become the examples of docs/api-examples.json. The calls are
 * typed by the OpenAPI document. The last call of an operation is its example: what is waited for has happened by then.
 */
import type { Stack } from '../../../src/cli/stack.ts';
import { serviceApi } from '../../../src/console/api/service-api.ts';
import { tourOfAccount } from './account.ts';
import type { Guide, RecordedCall } from './guide.ts';
import { tourOfLog } from './log.ts';
import { tourOfProtect } from './protect.ts';
import { tourOfRules } from './rules.ts';
import { tourOfVerification } from './verification.ts';

/** @returns the last call of each operation, by method and path. */
export async function walkThroughApi(stack: Stack): Promise<Map<string, RecordedCall>> {
  const calls = new Map<string, RecordedCall>();
  const send: Guide['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${stack.serviceUrl}${path}`, {
      method: method.toUpperCase(),
      headers: { ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const contentType = response.headers.get('content-type')?.replace(/;.*/, '') ?? '';
    const result: unknown = contentType === 'application/json' ? JSON.parse(text) : text;
    const call = { method, path, request: body, status: response.status, contentType, response: result };
    const operation = `${method} ${path.replace(/\?.*/, '')}`;
    if (response.ok) calls.set(operation, call);
    return call;
  };
  const api = serviceApi(async (method, path, body) => {
    const { status, response } = await send(method, path, body, { authorization: `Bearer ${stack.apiKey}` });
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(response)}`);
    return response;
  });
  const guide = { stack, api, send };
  // The log needs requests, which the later parts give time to arrive.
  await tourOfVerification(guide);
  await tourOfAccount(guide);
  await tourOfProtect(guide);
  await tourOfRules(guide);
  await tourOfLog(guide);
  return calls;
}
