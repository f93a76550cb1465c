/**
 * The parts of a multipart form (RFC 7578), found in one pass over its bytes. The runtime's own parser takes more than a
 * second for 8 MiB of `; a=b`, and a visitor may send that. This one takes what browsers and HTTP libraries write.
 * Whatever two parsers could read differently (two boundaries, bare line feeds, a second name) makes the form malformed.
 */
import { failed, ok, type Result } from '../result.ts';

export interface FormPart {
  name: string;
  isFile: boolean;
  /** The name has a backslash, or the value a transfer encoding: parsers differ in what they make of it. */
  isAmbiguous: boolean;
  /** Where the delimiter before the part starts. The part ends where the next delimiter starts. */
  start: number;
  valueStart: number;
  valueEnd: number;
}

export type MultipartError = 'malformed' | 'too-many-parts';

/** A browser writes some hundred bytes: the names of a field and a file, and a type. */
const PART_HEAD_MAX_BYTES = 8192;
/** A name, a name of a file, and that name in another encoding. */
const PARAMETERS_MAX = 8;
const HEADERS_MAX = 16;
const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DASH = 45;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** `body` is read at each position at most a few times, however it is made. */
export function multipartParts(
  body: Uint8Array,
  contentType: string,
  maxParts: number,
): Result<FormPart[], MultipartError> {
  const boundary = boundaryOf(contentType);
  if (boundary === null) return failed('malformed');
  const delimiter = encoder.encode(`--${boundary}`);
  const parts: FormPart[] = [];
  let open: FormPart | null = null;
  let at = startsLine(body, 0) ? 2 : 0;
  if (!isAt(body, at, delimiter)) return failed('malformed');
  while (at < body.length) {
    if (!isAt(body, at, delimiter)) {
      at = nextLine(body, at);
      continue;
    }
    if (open) {
      // The line break before a delimiter belongs to the delimiter.
      if (body[at - 2] !== CR || at - 2 < open.valueStart) return failed('malformed');
      open.valueEnd = at - 2;
    }
    const after = at + delimiter.length;
    if (body[after] === DASH && body[after + 1] === DASH) {
      return isBlank(body, after + 2) ? ok(parts) : failed('malformed');
    }
    if (parts.length === maxParts) return failed('too-many-parts');
    const headStart = afterPadding(body, after);
    if (!startsLine(body, headStart)) return failed('malformed');
    const headEnd = endOfHead(body, headStart);
    if (headEnd < 0) return failed('malformed');
    const head = readHead(decoder.decode(body.subarray(headStart + 2, headEnd)));
    if (head === null) return failed('malformed');
    open = { ...head, start: at, valueStart: headEnd + 4, valueEnd: body.length };
    parts.push(open);
    // An empty value has the line break of the head before its delimiter.
    at = open.valueStart;
    if (isAt(body, at, delimiter)) return failed('malformed');
  }
  return failed('malformed');
}

/** `null`: none, or more than one, of which each parser would take another. */
function boundaryOf(contentType: string): string | null {
  const found = [...contentType.matchAll(/;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70})(?=[\s;]|$))/gi)];
  const [only] = found;
  const isSure = found.length === 1 && contentType.toLowerCase().split('boundary').length === 2;
  return isSure ? (only?.[1] ?? only?.[2] ?? null) : null;
}

/** The position of the empty line after the head, whose line break is at `from`. -1: there is none within the limit. */
function endOfHead(body: Uint8Array, from: number): number {
  const last = Math.min(body.length - 4, from + PART_HEAD_MAX_BYTES);
  for (let at = from; at <= last; at++) {
    if (body[at] === CR && body[at + 1] === LF && body[at + 2] === CR && body[at + 3] === LF) return at;
  }
  return -1;
}

const PARAMETER = /;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([^\s;"]*))[ \t]*/y;

function readHead(text: string): Pick<FormPart, 'name' | 'isFile' | 'isAmbiguous'> | null {
  const seen = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const key = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!/^[\w-]+$/.test(key) || /[\r\n\0]/.test(line) || seen.has(key) || seen.size === HEADERS_MAX) return null;
    seen.set(key, line.slice(colon + 1).trim());
  }
  const disposition = seen.get('content-disposition') ?? '';
  const kind = /^form-data[ \t]*/i.exec(disposition);
  if (!kind) return null;
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = kind[0].length;
  for (let at = kind[0].length; at < disposition.length; at = PARAMETER.lastIndex) {
    const [, key = '', quoted, token = ''] = PARAMETER.exec(disposition) ?? [];
    if (key === '' || parameters.has(key.toLowerCase()) || parameters.size === PARAMETERS_MAX) return null;
    parameters.set(key.toLowerCase(), quoted ?? token);
  }
  const name = parameters.get('name');
  if (name === undefined || parameters.has('name*')) return null;
  const encoding = seen.get('content-transfer-encoding') ?? 'binary';
  return {
    name,
    isFile: parameters.has('filename') || parameters.has('filename*'),
    isAmbiguous: name.includes('\\') || !/^(?:7bit|8bit|binary)$/i.test(encoding),
  };
}

function isAt(body: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) if (body[at + index] !== text[index]) return false;
  return true;
}

function nextLine(body: Uint8Array, from: number): number {
  let at = from;
  while (at < body.length && body[at] !== LF) at++;
  return at + 1;
}

function startsLine(body: Uint8Array, at: number): boolean {
  return body[at] === CR && body[at + 1] === LF;
}

function afterPadding(body: Uint8Array, from: number): number {
  let at = from;
  while (body[at] === SPACE || body[at] === TAB) at++;
  return at;
}

function isBlank(body: Uint8Array, from: number): boolean {
  for (let at = from; at < body.length; at++) {
    const byte = body[at]!;
    if (byte !== SPACE && byte !== TAB && byte !== CR && byte !== LF) return false;
  }
  return true;
}
