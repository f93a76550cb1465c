/**
 * Pages of listings: their fields in a request, and their cursors, each opaque to callers. A cursor is the place of the
 * last item of a page, so that the next page neither repeats nor skips an item while others are written. Any other text
 * is refused.
 */
import * as z from 'zod/mini';
import type * as core from 'zod/v4/core';
import { decodeBase64url, encodeBase64url } from '../../bytes/base64url.ts';
import { edgeRuleCondition } from '../../contract/management/edge-rule.ts';
import type { PageStart } from '../../store/event-log/client/verdict-page.ts';
import type { RuleKey } from '../../store/rule-book/rule-row.ts';
import { OperationError } from './operation-error.ts';

const RULE_CURSOR_MAX_CHARS = 4096;
const PAGE_MAX = 1_000_000;

/** From 1. */
export const pageNumber = z._default(z.int().check(z.gte(1), z.lte(PAGE_MAX)), 1);

/** How many items a page has, at most: `most`, and without the field `usual`. */
export function pageLimit(most: number, usual: number) {
  return z._default(z.int().check(z.gte(1), z.lte(most)), usual);
}

export const timeCursorField = z.optional(z.string().check(z.maxLength(128)));
export const ruleCursorField = z.optional(z.string().check(z.minLength(1), z.maxLength(RULE_CURSOR_MAX_CHARS)));

/** Of a page of what has a time and an id, newest first. `null`: the page is the last one. */
export function timeCursor(page: readonly { at: number; id: string }[], limit: number): string | null {
  const last = page.at(-1);
  return last && page.length === limit ? `${last.at}.${last.id}` : null;
}

/** @throws OperationError 400, like the others. */
export function readTimeCursor(cursor: string | undefined): { at: number; id: string } | null {
  if (cursor === undefined) return null;
  const [, at, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined) throw unreadable('nextCursor');
  return { at: Number(at), id };
}

/** Of a page of verdicts: time and id of the last record, and how many records of that time to skip. */
export function verdictCursor({ timestamp, id, skip }: PageStart): string {
  return encodedText(`${timestamp}.${id}${skip === 0 ? '' : `.${skip}`}`);
}

export function readVerdictCursor(cursor: string | undefined): PageStart | null {
  if (cursor === undefined) return null;
  const match = /^(\d{1,16})\.([0-9a-f-]{36})(?:\.(\d{1,6}))?$/.exec(decodedText(cursor));
  if (!match) throw unreadable('nextCursor');
  return { timestamp: Number(match[1]), id: match[2] as string, skip: Number(match[3] ?? 0) };
}

/** Of a page of access rules: the key of the last one. */
export function ruleCursor(rule: RuleKey): string {
  return encodeURIComponent(`${rule.type}:${rule.value}`);
}

export function readRuleCursor(cursor: string | undefined): RuleKey | undefined {
  if (cursor === undefined) return undefined;
  const [, type, value] = /^([A-Za-z0-9]+):(.+)$/su.exec(decodedComponent(cursor)) ?? [];
  const key = edgeRuleCondition.safeParse({ type, value });
  if (!key.success) throw unreadable('nextCursor');
  return { type: key.data.type, value: String(key.data.value) };
}

/** Of what has a place of several parts. */
export function jsonCursor(value: unknown): string {
  return encodedText(JSON.stringify(value));
}

export function readJsonCursor<Schema extends core.$ZodType>(schema: Schema, cursor: string): core.output<Schema> {
  const read = z.safeParse(schema, parsedJson(decodedText(cursor)));
  if (read.success) return read.data;
  throw unreadable('cursor');
}

function encodedText(text: string): string {
  return encodeBase64url(new TextEncoder().encode(text));
}

/** Empty where the text is no base64url, which no cursor is. */
function decodedText(text: string): string {
  return new TextDecoder().decode(decodeBase64url(text) ?? new Uint8Array());
}

function decodedComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function unreadable(field: 'cursor' | 'nextCursor'): OperationError {
  return new OperationError('API.INVALID_BODY', 'The cursor cannot be read', [
    { path: 'cursor', message: `must be the ${field} of an earlier response` },
  ]);
}
