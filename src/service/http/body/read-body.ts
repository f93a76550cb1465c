/**
 * A request body as plain data, from JSON, `application/x-www-form-urlencoded` or
 * `multipart/form-data` (interface document 4). Everything hostile ends here as an `ApiError`: size, nesting,
 * encodings, prototype names. What comes out holds only own, harmless property names.
 */
import { ApiError } from '../api-error.ts';
import { formObject, isForbiddenName } from './form-object.ts';
import { readBytes } from './read-bytes.ts';

/** Default bound of a management body: a full settings object is a few KiB. */
export const BODY_MAX_BYTES = 1024 * 1024;
/** No schema here nests deeper than 8. */
const JSON_DEPTH_MAX = 32;

/**
 * `empty`: no bytes at all. `form`: every leaf is a string and still has to be read by the schema's
 * types (`parse-with-schema.ts`).
 */
export type ParsedBody =
  | { kind: 'empty' }
  | { kind: 'json'; value: unknown }
  | { kind: 'form'; value: Record<string, unknown> };

export async function readBody(request: Request, maxBytes: number = BODY_MAX_BYTES): Promise<ParsedBody> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.byteLength === 0) return { kind: 'empty' };
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw new ApiError('API.UNSUPPORTED_CONTENT_TYPE', 'Compressed bodies are not accepted');
  }
  const contentType = request.headers.get('content-type');
  if (contentType === null || contentType.trim() === '') {
    throw new ApiError('API.NO_CONTENT_TYPE_HEADER', 'A body needs a Content-Type header');
  }
  const mediaType = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new ApiError('API.UNSUPPORTED_CONTENT_TYPE', 'Bodies are read as UTF-8 only');
  }
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return { kind: 'json', value: parseJson(bytes) };
  if (mediaType === 'application/x-www-form-urlencoded') {
    return { kind: 'form', value: formObject(new URLSearchParams(decodeUtf8(bytes))) };
  }
  if (mediaType === 'multipart/form-data') return { kind: 'form', value: await parseMultipart(bytes, contentType) };
  throw new ApiError(
    'API.UNSUPPORTED_CONTENT_TYPE',
    'Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data',
  );
}

async function parseMultipart(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<Record<string, unknown>> {
  let form: FormData;
  try {
    form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new ApiError('API.PARSE_ERROR', 'The body is not well-formed multipart/form-data');
  }
  const entries: [string, string][] = [];
  for (const [name, value] of form) entries.push([name, typeof value === 'string' ? value : await value.text()]);
  return formObject(entries);
}

function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (jsonDepth(text) > JSON_DEPTH_MAX) {
    throw new ApiError('API.PARSE_ERROR', `The body nests deeper than ${JSON_DEPTH_MAX} levels`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError('API.PARSE_ERROR', 'The body is not valid JSON');
  }
  // JSON.parse makes `__proto__` an own property, harmless until something copies it. Any of its letters may
  // be escaped.
  if (/__proto__|\\u/i.test(text)) refuseUnkeepable(value, '');
  return value;
}

/** Deepest nesting of brackets outside strings; one pass, no recursion. */
function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

/** Depth is bounded before, so is the recursion. */
function refuseUnkeepable(value: unknown, path: string): void {
  // An escape can write half a character; UTF-8 cannot store it, so it would come back as another one.
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw new ApiError('API.INVALID_BODY', 'The body holds half a character', [
      { path, message: 'holds a surrogate without its other half' },
    ]);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const memberPath = path === '' ? name : `${path}.${name}`;
    if (isForbiddenName(name)) {
      throw new ApiError('API.INVALID_BODY', 'The body has a member of a reserved name', [
        { path: memberPath, message: 'is a reserved name' },
      ]);
    }
    refuseUnkeepable(member, memberPath);
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new ApiError('API.PARSE_ERROR', 'The body is not valid UTF-8');
  }
}
