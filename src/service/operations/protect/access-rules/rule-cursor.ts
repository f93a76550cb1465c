/**
 * The cursor of the rule listing: the key of the last rule on a page, so that the next page neither repeats nor skips a
 * rule while others are written. It is opaque to callers; any other text is refused.
 */
import * as z from 'zod/mini';
import { edgeRuleCondition } from '../../../../contract/management/edge-rule.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';

const CURSOR_MAX_CHARS = 4096;
export const cursor = z.optional(z.string().check(z.minLength(1), z.maxLength(CURSOR_MAX_CHARS)));

export function cursorAfter(rule: RuleKey): string {
  return encodeURIComponent(`${rule.type}:${rule.value}`);
}

/** @throws OperationError 400 when the text is not a cursor. */
export function cursorKey(text: string | undefined): RuleKey | undefined {
  if (text === undefined) return undefined;
  const [, type, value] = /^([A-Za-z0-9]+):(.+)$/su.exec(decoded(text)) ?? [];
  const key = edgeRuleCondition.safeParse({ type, value });
  if (!key.success)
    throw new OperationError('API.INVALID_BODY', 'The cursor cannot be read', [
      { path: 'cursor', message: 'must be the nextCursor of an earlier response' },
    ]);
  return { type: key.data.type, value: String(key.data.value) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
