/**
 * Reads a challenged submission once: finds the `captcha-response` token in an urlencoded, multipart or JSON body, and
 * keeps the exact bytes for the origin. The field's value is JSON with a `token` field, as the widget writes it, or the
 * bare token.
 */
import { TOKEN_MAX_CHARS } from '../../contract/captcha/challenge-constants.ts';
import type { InstancePolicy } from '../../contract/management/instance-policy.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import type { ReadError, Room } from '../../bytes/read-bounded.ts';
import { jsonMembers, urlencodedFields } from './find-field.ts';
import type { FieldRange } from './find-field.ts';
import { withoutJsonField, withoutMultipartField, withoutUrlencodedField } from './strip-field.ts';

export type SubmissionSettings = InstancePolicy['submission'];

/** Held in memory while the token is checked. A form with larger uploads passes once the visitor has clearance. */
export const SUBMISSION_MAX_BYTES = 8 * 1024 * 1024;
/** A token sits near the top of an ordinary document. */
const JSON_PATH_MAX_STEPS = 16;
/** A token in an object, with every character escaped. */
const JSON_VALUE_MAX_BYTES = 8 * TOKEN_MAX_CHARS;
/** Origins read the first or the last one. Those around it may be empty. */
const TEXTS_OF_EACH_END = 16;
const decoder = new TextDecoder();

export type SubmissionKind = 'urlencoded' | 'multipart' | 'json' | 'other';

export interface Submission {
  kind: SubmissionKind;
  contentType: string;
  body: Uint8Array<ArrayBuffer>;
  token: string | null;
}

export function submissionKind(contentType: string): SubmissionKind {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded';
  if (type === 'multipart/form-data') return 'multipart';
  return type === 'application/json' || type.endsWith('+json') ? 'json' : 'other';
}

/** `null` where the request has no body. `room`: the memory it may take. `read`: the body, where it was read before. */
export async function readSubmission(
  request: Request,
  settings: SubmissionSettings,
  room: Room,
  read: Submission['body'] | null = null,
): Promise<Result<Submission, ReadError> | null> {
  if (request.body === null || request.method === 'GET' || request.method === 'HEAD') return null;
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > SUBMISSION_MAX_BYTES) return failed('too-large');
  const body = read ? ok(read) : await readBounded(request.body, SUBMISSION_MAX_BYTES, { room });
  if (!body.ok) return body;
  const contentType = request.headers.get('content-type') ?? '';
  const kind = submissionKind(contentType);
  const token = tokenIn(await fieldValue(kind, contentType, body.value, settings));
  return ok({ kind, contentType, body: body.value, token });
}

/** What the origin gets: the same bytes, or those without the token where the instance says so. */
export function bodyForOrigin(submission: Submission, settings: SubmissionSettings): Uint8Array<ArrayBuffer> {
  const { kind, body, contentType } = submission;
  if (settings.forwardToken || kind === 'other') return body;
  if (kind === 'urlencoded') return withoutUrlencodedField(body, settings.tokenField);
  if (kind === 'multipart') return withoutMultipartField(body, contentType, settings.tokenField);
  return withoutJsonField(body, jsonSteps(settings));
}

async function fieldValue(
  kind: SubmissionKind,
  contentType: string,
  body: Uint8Array<ArrayBuffer>,
  settings: SubmissionSettings,
): Promise<unknown> {
  try {
    switch (kind) {
      case 'urlencoded':
        return urlencodedValue(body, settings.tokenField);
      case 'multipart': {
        const form = await formOf(body, contentType);
        return form.getAll(settings.tokenField).find((value) => typeof value === 'string' && value !== '');
      }
      case 'json':
        return jsonValue(body, jsonSteps(settings));
      case 'other':
        return null;
    }
  } catch {
    // A body that does not parse carries no token. The visitor is challenged like any other.
    return null;
  }
}

/**
 * The first and the last texts that a field has in a form, in order. A form with the field in between has it a million
 * times. Of JSON, `field` is a path with dots. Of a body that does not parse: none.
 */
export async function fieldTexts(
  kind: SubmissionKind,
  contentType: string,
  body: Uint8Array<ArrayBuffer>,
  field: string,
): Promise<string[]> {
  let values: unknown[] = [];
  if (kind === 'urlencoded') values = ends(urlencodedFields(body, field)).map((range) => urlencodedText(body, range));
  if (kind === 'multipart') values = await multipartValues(body, contentType, field);
  if (kind === 'json') values = ends(jsonMembers(body, field.split('.'))).map((member) => valueAt(body, member));
  return values.filter((value) => typeof value === 'string');
}

async function multipartValues(body: Uint8Array<ArrayBuffer>, contentType: string, field: string): Promise<unknown[]> {
  try {
    return ends((await formOf(body, contentType)).getAll(field));
  } catch {
    return [];
  }
}

function ends<T>(all: Iterable<T>): T[] {
  const first: T[] = [];
  /** In turn: `next` is where the oldest is. */
  const last: T[] = [];
  let next = 0;
  for (const one of all) {
    if (first.length < TEXTS_OF_EACH_END) first.push(one);
    else {
      last[next] = one;
      next = (next + 1) % TEXTS_OF_EACH_END;
    }
  }
  return [...first, ...last.slice(next), ...last.slice(0, next)];
}

function jsonSteps({ jsonPath, tokenField }: SubmissionSettings): string[] {
  return jsonPath === '' ? [tokenField] : jsonPath.split('.').slice(0, JSON_PATH_MAX_STEPS);
}

/** A page with two widgets sends the field twice, once empty. */
function urlencodedValue(body: Uint8Array, field: string): string | null {
  for (const value of urlencodedValues(body, field)) if (value !== '') return value;
  return null;
}

function* urlencodedValues(body: Uint8Array, field: string): Generator<string> {
  for (const range of urlencodedFields(body, field)) yield urlencodedText(body, range);
}

function urlencodedText(body: Uint8Array, { valueStart, end }: FieldRange): string {
  return new URLSearchParams(`v=${decoder.decode(body.subarray(valueStart, end))}`).get('v') ?? '';
}

function formOf(body: Uint8Array<ArrayBuffer>, contentType: string): Promise<FormData> {
  return new Response(body, { headers: { 'content-type': contentType } }).formData();
}

function jsonValue(body: Uint8Array, steps: readonly string[]): unknown {
  let last: FieldRange | null = null;
  for (const member of jsonMembers(body, steps)) last = member;
  return last && valueAt(body, last);
}

function valueAt(body: Uint8Array, { valueStart, end }: FieldRange): unknown {
  return end - valueStart > JSON_VALUE_MAX_BYTES ? null : parseJson(body.subarray(valueStart, end));
}

function tokenIn(value: unknown): string | null {
  let token = value;
  if (typeof token === 'string' && token.trimStart().startsWith('{')) {
    token = parseJson(token);
  }
  if (typeof token === 'object' && token !== null) token = (token as Record<string, unknown>)['token'];
  return typeof token === 'string' && token !== '' && token.length <= TOKEN_MAX_CHARS ? token : null;
}
