/**
 * Removes the token field from a submission and leaves every other byte as it was. The form is not parsed and written
 * again, because no two writers agree on spaces, order and encodings.
 */
import { afterSpace, jsonMembers, urlencodedFields } from './find-field.ts';
import type { FieldRange } from './find-field.ts';

const SPACE = 32;
const AMPERSAND = 38;
const COMMA = 44;

export function withoutUrlencodedField(body: Uint8Array<ArrayBuffer>, field: string): Uint8Array<ArrayBuffer> {
  return without(body, urlencodedFields(body, field), AMPERSAND);
}

export function withoutMultipartField(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  field: string,
): Uint8Array<ArrayBuffer> {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) return body;
  const [head = '', ...parts] = latin1(body).split(`--${boundary}`);
  const kept = parts.filter((part) => {
    const end = part.indexOf('\r\n\r\n');
    const headers = end < 0 ? part : part.slice(0, end);
    const name = /^content-disposition:[^\r\n]*;\s*name=(?:"([^"]*)"|([^\s;\r]*))/im.exec(headers);
    return (name?.[1] ?? name?.[2]) !== field;
  });
  return bytes([head, ...kept].join(`--${boundary}`));
}

export function withoutJsonField(body: Uint8Array<ArrayBuffer>, steps: readonly string[]): Uint8Array<ArrayBuffer> {
  return without(body, jsonMembers(body, steps), COMMA);
}

/** Cuts out each range and one separator beside it. */
function without(
  body: Uint8Array<ArrayBuffer>,
  ranges: Iterable<FieldRange>,
  separator: number,
): Uint8Array<ArrayBuffer> {
  const kept = new Uint8Array(body.length);
  let length = 0;
  let from = 0;
  for (const { start, end } of ranges) {
    kept.set(body.subarray(from, start), length);
    length += start - from;
    const next = afterSpace(body, end);
    if (body[next] === separator) {
      from = next + 1;
      continue;
    }
    // The last of its list: the separator before it goes.
    from = end;
    let last = length;
    while (last > 0 && kept[last - 1]! <= SPACE) last--;
    if (kept[last - 1] === separator) length = last - 1;
  }
  kept.set(body.subarray(from), length);
  return kept.subarray(0, length + body.length - from);
}

/** One character per byte, so that text operations never touch the bytes they pass over. */
function latin1(body: Uint8Array): string {
  let text = '';
  const CHUNK_BYTES = 32_768;
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    text += String.fromCharCode(...body.subarray(at, at + CHUNK_BYTES));
  }
  return text;
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) out[index] = text.charCodeAt(index);
  return out;
}
