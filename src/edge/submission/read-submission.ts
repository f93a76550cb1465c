/**
 * Reads a challenged submission once: finds the `captcha-response` token in an urlencoded, multipart or JSON body, and
 * keeps the exact bytes for the origin. The field's value is JSON with a `token` field, as the widget writes it, or the
 * bare token.
 */
import { TOKEN_MAX_CHARS } from '../../contract/captcha/challenge-constants.ts';
import type { InstancePolicy } from '../../contract/management/instance-policy.ts';
import { failed, ok, type Result } from '../../result.ts';
import { parseJson } from '../../bytes/json.ts';
import { readBounded, type ReadFault, type Room } from '../../bytes/read-bounded.ts';
import { multipartParts } from '../../bytes/multipart.ts';
import { FieldName, urlencoded } from './field-name.ts';
import { fieldPath, type FieldRange, jsonMembers, urlencodedFields } from './find-field.ts';
import { FORM_PARTS_MAX, withoutJsonField, withoutMultipartField, withoutUrlencodedField } from './strip-field.ts';

export type SubmissionSettings = InstancePolicy['submission'];

/** Held in memory while the token is checked. A form with larger uploads passes once the visitor has clearance. */
export const SUBMISSION_MAX_BYTES = 8 * 1024 * 1024;
/** A token sits near the top of an ordinary document. */
const JSON_PATH_MAX_STEPS = 16;
/** A token in an object, with every character escaped. */
const VALUE_MAX_BYTES = 8 * TOKEN_MAX_CHARS;
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
): Promise<Result<Submission, ReadFault> | null> {
  if (request.body === null || request.method === 'GET' || request.method === 'HEAD') return null;
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > SUBMISSION_MAX_BYTES) return failed({ kind: 'too-large' });
  const body = read ? ok(read) : await readBounded(request.body, SUBMISSION_MAX_BYTES, { room });
  if (!body.ok) return body;
  const contentType = request.headers.get('content-type') ?? '';
  const kind = submissionKind(contentType);
  const token = tokenIn(fieldValue(kind, contentType, body.value, settings));
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

/** A body that does not parse carries no token. The visitor is challenged like any other. */
function fieldValue(
  kind: SubmissionKind,
  contentType: string,
  body: Uint8Array<ArrayBuffer>,
  settings: SubmissionSettings,
): unknown {
  switch (kind) {
    // A page with two widgets sends the field twice, once empty.
    case 'urlencoded':
      return ends(urlencodedFields(body, FieldName.exact(settings.tokenField)))
        .filter(({ valueStart, end }) => end - valueStart <= VALUE_MAX_BYTES)
        .map(({ valueStart, end }) => urlencoded.text(body, valueStart, end))
        .find((value) => value !== '');
    case 'multipart':
      return multipartToken(body, contentType, settings.tokenField);
    case 'json':
      return jsonValue(body, jsonSteps(settings));
    case 'other':
      return null;
  }
}

function multipartToken(body: Uint8Array, contentType: string, field: string): string | null {
  const parts = multipartParts(body, contentType, FORM_PARTS_MAX);
  const part = (parts.ok ? parts.value : []).find(
    ({ name, isFile, valueStart, valueEnd }) => name === field && !isFile && valueEnd > valueStart,
  );
  if (!part || part.valueEnd - part.valueStart > VALUE_MAX_BYTES) return null;
  return decoder.decode(body.subarray(part.valueStart, part.valueEnd));
}

/** The first and the last of many. */
export function ends<T>(all: T[]): T[] {
  if (all.length <= 2 * TEXTS_OF_EACH_END) return all;
  return [...all.slice(0, TEXTS_OF_EACH_END), ...all.slice(-TEXTS_OF_EACH_END)];
}

function jsonSteps({ jsonPath, tokenField }: SubmissionSettings): string[] {
  return jsonPath === '' ? [tokenField] : jsonPath.split('.').slice(0, JSON_PATH_MAX_STEPS);
}

function jsonValue(body: Uint8Array, steps: readonly string[]): unknown {
  const last = jsonMembers(body, fieldPath(steps)).at(-1);
  return last && valueAt(body, last);
}

export function valueAt(body: Uint8Array, { valueStart, end }: FieldRange): unknown {
  return end - valueStart > VALUE_MAX_BYTES ? null : parseJson(body.subarray(valueStart, end));
}

function tokenIn(value: unknown): string | null {
  let token = value;
  if (typeof token === 'string' && token.trimStart().startsWith('{')) {
    token = parseJson(token);
  }
  if (typeof token === 'object' && token !== null) token = (token as Record<string, unknown>)['token'];
  return typeof token === 'string' && token !== '' && token.length <= TOKEN_MAX_CHARS ? token : null;
}
