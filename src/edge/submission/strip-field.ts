/**
 * Removes the token field from a submission and leaves every other byte as it was. The form is not parsed and written
 * again, because no two writers agree on spaces, order and encodings.
 */
import { multipartParts } from '../../bytes/multipart.ts';
import { FieldName } from './field-name.ts';
import { afterSpace, fieldPath, type FieldRange, jsonMembers, urlencodedFields } from './find-field.ts';

const SPACE = 32;
const AMPERSAND = 38;
const COMMA = 44;
const LINE_BREAK_BYTES = 2;
/**
 * More parts than these are in no form that a person fills in: PHP, Django and Go read a thousand fields. Such a form has
 * no token and no user that could be read, and nothing is taken out of it.
 */
export const FORM_PARTS_MAX = 1000;

export function withoutUrlencodedField(body: Uint8Array<ArrayBuffer>, field: string): Uint8Array<ArrayBuffer> {
  return without(body, urlencodedFields(body, FieldName.exact(field)), AMPERSAND);
}

export function withoutMultipartField(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  field: string,
): Uint8Array<ArrayBuffer> {
  const parts = multipartParts(body, contentType, FORM_PARTS_MAX);
  if (!parts.ok) return body;
  const ranges = parts.value
    .map(({ name, start, valueStart, valueEnd }) => ({ name, start, valueStart, end: valueEnd + LINE_BREAK_BYTES }))
    .filter(({ name }) => name === field);
  return without(body, ranges, null);
}

export function withoutJsonField(body: Uint8Array<ArrayBuffer>, steps: readonly string[]): Uint8Array<ArrayBuffer> {
  return without(body, jsonMembers(body, fieldPath(steps)), COMMA);
}

/** Cuts out each range and one separator beside it, where there are separators. */
function without(
  body: Uint8Array<ArrayBuffer>,
  ranges: Iterable<FieldRange>,
  separator: number | null,
): Uint8Array<ArrayBuffer> {
  const kept = new Uint8Array(body.length);
  let length = 0;
  let from = 0;
  for (const { start, end } of ranges) {
    kept.set(body.subarray(from, start), length);
    length += start - from;
    from = end;
    if (separator === null) continue;
    const next = afterSpace(body, end);
    if (body[next] === separator) {
      from = next + 1;
      continue;
    }
    // The last of its list: the separator before it goes.
    let last = length;
    while (last > 0 && kept[last - 1]! <= SPACE) last--;
    if (kept[last - 1] === separator) length = last - 1;
  }
  kept.set(body.subarray(from), length);
  return kept.subarray(0, length + body.length - from);
}
