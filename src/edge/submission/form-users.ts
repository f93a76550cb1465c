/**
 * Whom a log-in names, for limits by user: in its form and in its query. The body is read whole and goes on as it came. Of
 * a field that stands there several times, origins read the first or the last: both count. What an origin may read and
 * the edge cannot has one name for all visitors, so that nobody escapes a count by an encoding.
 */
import { ok, type Result } from '../../result.ts';
import { userName } from '../../limits/limit-keys.ts';
import { multipartParts } from '../../bytes/multipart.ts';
import { readBounded, type ReadFault } from '../../bytes/read-bounded.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { BodyBudget } from './body-budget.ts';
import { FieldName, urlencoded } from './field-name.ts';
import {
  afterSpace,
  fieldPath,
  type FieldRange,
  jsonMembers,
  OPEN_ARRAY,
  OPEN_OBJECT,
  urlencodedFields,
} from './find-field.ts';
import { SUBMISSION_MAX_BYTES, ends, submissionKind, valueAt } from './read-submission.ts';
import { FORM_PARTS_MAX } from './strip-field.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Parsed, a value is many times as large, and 32 of them are kept. */
const NAME_MAX_BYTES = 8192;

/** Stands for a name that an origin may read and the edge cannot. */
export const UNREAD_TEXT = '?';

export interface FormUsers {
  /** With a request that can be read again. */
  facts: RequestFacts;
  /** `null` where nobody has read it. */
  body: Uint8Array<ArrayBuffer> | null;
  byField: ReadonlyMap<string, readonly string[]>;
}

/** `read`: the body, where it was read before. */
export async function formUsers(
  facts: RequestFacts,
  read: Uint8Array<ArrayBuffer> | null,
  fields: readonly string[],
  bodies: BodyBudget,
): Promise<Result<FormUsers, ReadFault>> {
  const { request, target } = facts;
  if (fields.length === 0) return ok({ facts, body: read, byField: new Map() });
  const { headers, body: stream } = request;
  // No request of these methods can be made anew with its body.
  const isUnread = headers.has('content-encoding') || (stream !== null && /^(GET|HEAD)$/.test(request.method));
  const isRead = stream !== null && read === null && !isUnread;
  const body = isRead ? await readBounded(stream, SUBMISSION_MAX_BYTES, { room: bodies.hold(facts) }) : ok(read);
  if (!body.ok) return body;
  const query = encoder.encode(target.query.slice(1));
  const byField = new Map<string, readonly string[]>();
  for (const field of fields) {
    const inBody = body.value ? fieldTexts(headers.get('content-type') ?? '', body.value, field) : [];
    const sources = [isUnread ? [UNREAD_TEXT] : inBody, urlencodedTexts(query, field)];
    byField.set(field, [...new Set(sources.flatMap(firstAndLast))]);
  }
  if (!isRead) return ok({ facts, body: read, byField });
  return ok({
    facts: { ...facts, request: new Request(request, { method: request.method, body: body.value }) },
    body: body.value,
    byField,
  });
}

function firstAndLast(texts: readonly string[]): string[] {
  const names = texts.map(userName).filter((name) => name !== null);
  return names.filter((_, at) => at === 0 || at === names.length - 1);
}

/**
 * The first and the last texts that a field has in a form, in order. Of JSON, `field` is a path with dots. Many origins do
 * not look at the type, so what looks like JSON is read as JSON too.
 */
export function fieldTexts(contentType: string, body: Uint8Array<ArrayBuffer>, field: string): string[] {
  const kind = submissionKind(contentType);
  const start = afterSpace(body, body[0] === 0xef ? 3 : 0);
  const first = body[start] ?? 0;
  const isJson = first === OPEN_OBJECT || first === OPEN_ARRAY;
  // In another encoding than UTF-8, or no JSON.
  const isUnread = first >= 0xfe || (isJson ? body.includes(0) : kind === 'json' && first > 0);
  const texts = isUnread ? [UNREAD_TEXT] : [];
  if (isJson) texts.push(...jsonTexts(body, field, start));
  if (kind === 'multipart') texts.push(...multipartTexts(body, contentType, field));
  else if (kind !== 'json') texts.push(...urlencodedTexts(body, field));
  return texts;
}

function jsonTexts(body: Uint8Array, field: string, start: number): string[] {
  const path = fieldPath(field.split('.'), true);
  const members = jsonMembers(body, path, start);
  const isUnsure = path.some(({ name }) => name.isUnsure);
  return readTexts(members, (member) => namesAt(body, member), isUnsure);
}

/** The log-in names in a member of a JSON body. A list counts by its first and its last item. Texts and numbers are names. */
function namesAt(body: Uint8Array, member: FieldRange): string[] {
  const value = member.end - member.valueStart > NAME_MAX_BYTES ? null : valueAt(body, member);
  const names: unknown[] = Array.isArray(value) ? [value[0], value.at(-1)] : [value];
  return names.map((name) => (typeof name === 'string' || typeof name === 'number' ? `${name}` : UNREAD_TEXT));
}

export function urlencodedTexts(body: Uint8Array, field: string): string[] {
  const name = FieldName.loose(field);
  const textOf = ({ valueStart, end }: FieldRange) => [
    end - valueStart > NAME_MAX_BYTES ? UNREAD_TEXT : urlencoded.text(body, valueStart, end),
  ];
  const fields = urlencodedFields(body, name);
  return readTexts(fields, textOf, name.isUnsure);
}

/** Texts of the first and the last ranges, and `UNREAD_TEXT` where there may be others. */
function readTexts(ranges: FieldRange[], textsOf: (range: FieldRange) => string[], isUnsure: boolean): string[] {
  const texts = ends(ranges).flatMap(textsOf);
  return isUnsure ? [...texts, UNREAD_TEXT] : texts;
}

function multipartTexts(body: Uint8Array, contentType: string, field: string): string[] {
  const parts = multipartParts(body, contentType, FORM_PARTS_MAX);
  if (!parts.ok) return [UNREAD_TEXT];
  const name = FieldName.loose(field);
  const named = ends(parts.value.filter((part) => part.isAmbiguous || name.isText(part.name)));
  const texts = named.map(({ isFile, isAmbiguous, valueStart, valueEnd }) =>
    isFile || isAmbiguous || valueEnd - valueStart > NAME_MAX_BYTES
      ? UNREAD_TEXT
      : decoder.decode(body.subarray(valueStart, valueEnd)),
  );
  return name.isUnsure ? [...texts, UNREAD_TEXT] : texts;
}
