/**
 * Every refusal and every accident on its way to the wire, in one place (interface document 7). What was not
 * foreseen becomes 500 `API.UNKNOWN` without a word about itself; the log has the rest under the
 * request id.
 */
import { errorEnvelope, errorStatus } from '../../contract/errors.ts';
import type { ErrorDetail, ErrorKey } from '../../contract/errors.ts';
import { AccountLimitError } from '../../store/d1/account-limits.ts';
import { NoActiveInstanceError, ApiError } from './api-error.ts';

export function respondError(error: unknown, requestId: string): Response {
  if (error instanceof ApiError) return errorResponse(error.key, error.message, error.details, error.headers);
  if (error instanceof AccountLimitError) return errorResponse('API.TOO_MANY_ITEMS', error.message);
  if (error instanceof NoActiveInstanceError) return jsonResponse({ error: error.message }, 404);
  console.error(
    JSON.stringify({
      event: 'unhandled-error',
      requestId,
      name: error instanceof Error ? error.name : typeof error,
      message: error instanceof Error ? error.message : String(error),
      stack: error instanceof Error ? error.stack : undefined,
    }),
  );
  return errorResponse('API.UNKNOWN', 'Something went wrong on our side');
}

export function errorResponse(
  key: ErrorKey,
  message: string,
  details?: readonly ErrorDetail[],
  headers: Readonly<Record<string, string>> = {},
): Response {
  return jsonResponse(errorEnvelope(key, message, details), errorStatus[key], headers);
}

/** Answers here hold secrets or depend on them: nothing on the way may keep one. */
export function jsonResponse(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  });
}
