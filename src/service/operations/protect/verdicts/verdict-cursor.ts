/** The cursor of a page of verdicts: time and id of the last record, and how many records of that time to skip. */
import { decodeBase64url, encodeBase64url } from '../../../../bytes/base64url.ts';
import type { PageStart } from '../../../../store/event-log/client/verdict-page.ts';
import { OperationError } from '../../operation-error.ts';

export function encodeCursor({ timestamp, id, skip }: PageStart): string {
  return encodeBase64url(new TextEncoder().encode(`${timestamp}.${id}${skip === 0 ? '' : `.${skip}`}`));
}

export function decodeCursor(cursor: string | undefined): PageStart | null {
  if (cursor === undefined) return null;
  const bytes = decodeBase64url(cursor);
  const match = /^(\d{1,16})\.([0-9a-f-]{36})(?:\.(\d{1,6}))?$/.exec(bytes ? new TextDecoder().decode(bytes) : '');
  if (!match)
    throw new OperationError('API.INVALID_BODY', 'The cursor cannot be read', [
      { path: 'cursor', message: 'must be the nextCursor of an earlier response' },
    ]);
  return { timestamp: Number(match[1]), id: match[2] as string, skip: Number(match[3] ?? 0) };
}
