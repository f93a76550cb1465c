/**
 * Finds a field in the bytes of an urlencoded or JSON body without parsing the body. Parsing 8 MiB of `[[[[` or `a&a&` makes
 * some hundred megabytes of objects, and one such request would end an isolate. This costs one pass over the bytes, and
 * the memory of what is found.
 */
import { FieldName, jsonString, urlencoded } from './field-name.ts';

export interface FieldRange {
  /** The whole pair or field, without its separators. */
  start: number;
  end: number;
  valueStart: number;
}

const QUOTE = 34;
const AMPERSAND = 38;
const COMMA = 44;
const COLON = 58;
const EQUALS = 61;
export const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
export const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACE = 32;

/** The pairs with that name, in order: as many as a `FieldName` finds. */
export function urlencodedFields(body: Uint8Array, name: FieldName): FieldRange[] {
  const found: FieldRange[] = [];
  for (let start = 0, end = 0; start < body.length; start = end + 1) {
    let equals = -1;
    for (end = start; end < body.length && body[end] !== AMPERSAND; end++) {
      if (equals < 0 && body[end] === EQUALS) equals = end;
    }
    const nameEnd = equals < 0 ? end : equals;
    if (nameEnd === start || !name.isAt(body, start, nameEnd, urlencoded)) continue;
    found.push({ start, end, valueStart: Math.min(nameEnd + 1, end) });
  }
  return found;
}

/**
 * The values that the path of names (or list positions) leads to, in order. The last counts, as with `JSON.parse`.
 */
export function jsonMembers(body: Uint8Array, path: readonly FieldStep[], from = 0): FieldRange[] {
  const found: FieldRange[] = [];
  findMembers(body, afterSpace(body, from), path, 0, found);
  return found;
}

/** One step of a path: the name of a member, or a position in a list. */
export interface FieldStep {
  name: FieldName;
  /** `null` where the name is no position. */
  place: number | null;
}

/** `isLoose`: in any letter case, as Go and .NET read them. */
export function fieldPath(names: readonly string[], isLoose = false): FieldStep[] {
  return names.map((name) => ({
    name: isLoose ? FieldName.loose(name) : FieldName.exact(name),
    place: /^(?:0|[1-9]\d{0,6})$/.test(name) ? Number(name) : null,
  }));
}

/**
 * Adds to `found` what the steps from `depth` on lead to in the value at `open`. Returns the position after that value, so
 * that each byte is read at one depth only: `{"a":{"a":{` would cost a pass for each step of a path. A list may end
 * anywhere: the origin decides whether the document is valid.
 */
function findMembers(
  body: Uint8Array,
  open: number,
  path: readonly FieldStep[],
  depth: number,
  found: FieldRange[],
): number {
  const step = path[depth];
  const isObject = body[open] === OPEN_OBJECT;
  const isPlaces = body[open] === OPEN_ARRAY && step?.place != null;
  if (!step || (!isObject && !isPlaces)) return valueEnd(body, open);
  let at = afterSpace(body, open + 1);
  for (let place = 0; at < body.length && body[at] !== CLOSE_OBJECT && body[at] !== CLOSE_ARRAY; place++) {
    const start = at;
    let fits = isPlaces && place === step.place;
    if (isObject) {
      if (body[start] !== QUOTE) break;
      const quote = closingQuote(body, start);
      at = afterSpace(body, quote + 1);
      if (body[at] !== COLON) break;
      fits = step.name.isAt(body, start + 1, quote, jsonString);
      at = afterSpace(body, at + 1);
    }
    const valueStart = at;
    const end = fits ? findMembers(body, valueStart, path, depth + 1, found) : valueEnd(body, valueStart);
    if (fits && depth === path.length - 1) found.push({ start, end, valueStart });
    at = afterSpace(body, end);
    if (body[at] !== COMMA) break;
    at = afterSpace(body, at + 1);
  }
  return valueEnd(body, at, 1);
}

/** The position after the value that begins at `at`, or in which `at` is, with that many brackets open. */
function valueEnd(body: Uint8Array, at: number, open = 0): number {
  let depth = open;
  for (let index = at; index < body.length; index++) {
    switch (body[index]) {
      case QUOTE:
        index = closingQuote(body, index);
        if (depth === 0) return Math.min(index + 1, body.length);
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth++;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        if (depth <= 1) return depth === 0 ? index : index + 1;
        depth--;
        break;
      case COMMA:
        if (depth === 0) return index;
        break;
    }
  }
  return body.length;
}

function closingQuote(body: Uint8Array, open: number): number {
  for (let at = open + 1; at < body.length; at++) {
    const byte = body[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at;
  }
  return body.length;
}

export function afterSpace(body: Uint8Array, from: number): number {
  let at = from;
  while (at < body.length && body[at]! <= SPACE) at++;
  return at;
}
