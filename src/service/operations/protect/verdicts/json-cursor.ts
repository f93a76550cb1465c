/** Cursors that are JSON in base64url. They are opaque to callers; any other text is refused. */
import type * as core from 'zod/v4/core';
import * as z from 'zod/mini';
import { decodeBase64url, encodeBase64url } from '../../../../bytes/base64url.ts';
import { OperationError } from '../../operation-error.ts';

export function jsonCursor(value: unknown): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));
}

/** @throws OperationError 400 when the text is not a cursor with such a value. */
export function readJsonCursor<Schema extends core.$ZodType>(schema: Schema, cursor: string): core.output<Schema> {
  const read = z.safeParse(schema, jsonOf(decodeBase64url(cursor)));
  if (read.success) return read.data;
  throw new OperationError('API.INVALID_BODY', 'The cursor cannot be read', [
    { path: 'cursor', message: 'must be the cursor of an earlier response' },
  ]);
}

function jsonOf(bytes: Uint8Array | null): unknown {
  try {
    return bytes && JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
