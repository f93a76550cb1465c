/**
 * A request body as plain data, from JSON, `application/x-www-form-urlencoded` or `multipart/form-data`. Everything
 * hostile ends here as a `BodyError`: size, nesting, encodings, prototype names. The result has harmless property
 * names only.
 */
import { JSON_DEPTH_MAX, jsonShape } from '../../../bytes/json.ts';
import * as core from 'zod/v4/core';
import { multipartParts } from '../../../bytes/multipart.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { BodyError } from '../service-error.ts';
import { FORM_FIELDS_MAX, formObject, isForbiddenName } from './form-object.ts';
import { type ParsedBody, parseWithSchema } from './parse-with-schema.ts';
import { readBounded } from '../../../bytes/read-bounded.ts';

/** Default limit of a management body. A whole settings object has a few KiB. */
export const BODY_MAX_BYTES = 1024 * 1024;
const AMPERSAND = 38;

/** What a body may have at most. A larger one is refused before it is parsed. */
interface BodyLimits {
  maxBytes?: number;
  /** Of a form, and values of JSON, which is bounded by its bytes alone otherwise. */
  maxFields?: number;
}

/** Reads a body and parses it with the schema of its route. */
export async function readBodyAs<Schema extends core.$ZodType>(
  schema: Schema,
  request: Request,
  limits: number | BodyLimits = {},
): Promise<Result<core.output<Schema>, BodyError>> {
  const bodyLimits: BodyLimits = typeof limits === 'number' ? { maxBytes: limits } : limits;
  const body = await readBody(request, bodyLimits);
  return body.ok ? parseWithSchema(schema, body.value, bodyLimits.maxFields) : body;
}

export async function readBody(
  request: Request,
  { maxBytes = BODY_MAX_BYTES, maxFields }: BodyLimits = {},
): Promise<Result<ParsedBody, BodyError>> {
  const read = await readBytes(request, maxBytes);
  if (!read.ok) return read;
  const bytes = read.value;
  if (bytes.byteLength === 0) return ok({ kind: 'empty' });
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity') return failed({ kind: 'body-compressed' });
  const contentType = request.headers.get('content-type');
  if (contentType === null || contentType.trim() === '') return failed({ kind: 'content-type-missing' });
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') return failed({ kind: 'charset-unknown' });

  const mediaType = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) {
    const value = parseJson(bytes, maxFields);
    return value.ok ? ok({ kind: 'json', value: value.value }) : value;
  }
  const fields =
    mediaType === 'application/x-www-form-urlencoded'
      ? urlencodedFields(bytes, maxFields)
      : mediaType === 'multipart/form-data'
        ? multipartFields(bytes, contentType, maxFields)
        : failed<BodyError>({ kind: 'content-type-unknown' });
  if (!fields.ok) return fields;
  const form = formObject(fields.value);
  return form.ok ? ok({ kind: 'form', value: form.value }) : form;
}

type Fields = Result<Iterable<[string, string]>, BodyError>;

function urlencodedFields(bytes: Uint8Array, maxFields = FORM_FIELDS_MAX): Fields {
  let separators = 0;
  for (const byte of bytes) if (byte === AMPERSAND) separators++;
  if (separators >= maxFields) return failed({ kind: 'too-many-fields', maxFields });
  const text = decodeUtf8(bytes);
  if (text === null) return failed({ kind: 'utf8-invalid' });
  // No form begins so: brackets in the name of a field follow a letter, and braces are escaped.
  return /^\s*[{[]/.test(text) ? failed({ kind: 'content-type-of-form' }) : ok(new URLSearchParams(text));
}

function multipartFields(bytes: Uint8Array, contentType: string, maxFields = FORM_FIELDS_MAX): Fields {
  const parts = multipartParts(bytes, contentType, maxFields);
  if (!parts.ok) {
    return failed(parts.error === 'malformed' ? { kind: 'multipart-invalid' } : { kind: 'too-many-fields', maxFields });
  }
  const fields: [string, string][] = [];
  for (const { name, valueStart, valueEnd } of parts.value) {
    const value = decodeUtf8(bytes.subarray(valueStart, valueEnd));
    if (value === null) return failed({ kind: 'utf8-invalid' });
    fields.push([name, value]);
  }
  return ok(fields);
}

function parseJson(bytes: Uint8Array, maxFields = Number.POSITIVE_INFINITY): Result<unknown, BodyError> {
  const text = decodeUtf8(bytes);
  if (text === null) return failed({ kind: 'utf8-invalid' });
  const { depth, values } = jsonShape(text);
  if (depth > JSON_DEPTH_MAX) return failed({ kind: 'json-too-deep', maxLevels: JSON_DEPTH_MAX });
  if (values > maxFields) return failed({ kind: 'too-many-fields', maxFields });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed({ kind: 'json-invalid' });
  }
  // `JSON.parse` makes `__proto__` an own property, which is harmless until something copies it. Any of its letters,
  // and half a character, may be written as an escape.
  const harm = /__proto__|\\u/i.test(text) ? firstHarm(value, '') : null;
  return harm === null ? ok(value) : failed(harm);
}

/** The first value that cannot be stored as it is. The depth is bounded, so the recursion is too. */
function firstHarm(value: unknown, path: string): BodyError | null {
  // UTF-8 cannot store half a character: it would come back as another one.
  if (typeof value === 'string' && !value.isWellFormed()) return { kind: 'field-half-character', path };
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const innerPath = path === '' ? name : `${path}.${name}`;
    const harm = isForbiddenName(name)
      ? ({ kind: 'field-name-reserved', path: innerPath } as const)
      : firstHarm(inner, innerPath);
    if (harm !== null) return harm;
  }
  return null;
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * A small body with a `Content-Length` is read in one call, at a tenth of the cost of reading its stream. HTTP/1 ends
 * such a body at that length (RFC 9112, 6.3), unless it has `Transfer-Encoding`.
 */
const AT_ONCE_MAX_BYTES = 64 * 1024;

/** The bytes of a request body, up to a limit. */
async function readBytes(request: Request, maxBytes: number): Promise<Result<Uint8Array<ArrayBuffer>, BodyError>> {
  const tooLarge = failed<BodyError>({ kind: 'body-too-large', maxBytes });
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > maxBytes) return tooLarge;
  if (!request.body) return ok(new Uint8Array(0));
  if (announced !== null && Number(announced) <= AT_ONCE_MAX_BYTES && !request.headers.has('transfer-encoding')) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    return bytes.byteLength > maxBytes ? tooLarge : ok(bytes);
  }
  const read = await readBounded(request.body, maxBytes, { timeoutMs: null });
  if (read.ok) return read;
  return read.error.kind === 'too-large' ? tooLarge : failed({ kind: 'body-incomplete' });
}
