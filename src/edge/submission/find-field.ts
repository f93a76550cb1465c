/**
 * Finds a field in the bytes of an urlencoded or JSON body without parsing the body. Parsing 8 MiB of `[[[[` or `a&a&` makes
 * some hundred megabytes of objects, and one such request would end an isolate. This costs one pass over the bytes and no
 * memory.
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

/** Each pair with that name, in order. */
export function* urlencodedFields(body: Uint8Array, name: FieldName): Generator<FieldRange> {
  for (let start = 0, end = 0; start < body.length; start = end + 1) {
    let equals = -1;
    for (end = start; end < body.length && body[end] !== AMPERSAND; end++) {
      if (equals < 0 && body[end] === EQUALS) equals = end;
    }
    const nameEnd = equals < 0 ? end : equals;
    if (nameEnd === start || !name.isAt(body, start, nameEnd, urlencoded)) continue;
    yield { start, end, valueStart: Math.min(nameEnd + 1, end) };
  }
}

/**
 * Each value that the path of names (or list positions) leads to, in order. The last counts, as with `JSON.parse`.
 */
export function* jsonMembers(body: Uint8Array, path: readonly FieldStep[], from = 0): Generator<FieldRange> {
  const [step, ...rest] = path;
  if (!step) return;
  for (const member of membersNamed(step, body, afterSpace(body, from))) {
    if (rest.length === 0) yield member;
    else yield* jsonMembers(body, rest, member.valueStart);
  }
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

/** A list may end anywhere: the origin decides whether the document is valid. */
function* membersNamed({ name, place: wantedPlace }: FieldStep, body: Uint8Array, open: number): Generator<FieldRange> {
  const isObject = body[open] === OPEN_OBJECT;
  if (!isObject && (body[open] !== OPEN_ARRAY || wantedPlace === null)) return;
  let start = afterSpace(body, open + 1);
  for (let place = 0; start < body.length && body[start] !== CLOSE_OBJECT && body[start] !== CLOSE_ARRAY; place++) {
    let valueStart = start;
    let fits = !isObject && place === wantedPlace;
    if (isObject) {
      if (body[start] !== QUOTE) return;
      const quote = closingQuote(body, start);
      const colon = afterSpace(body, quote + 1);
      if (body[colon] !== COLON) return;
      fits = name.isAt(body, start + 1, quote, jsonString);
      valueStart = afterSpace(body, colon + 1);
    }
    const end = valueEnd(body, valueStart);
    if (fits) yield { start, end, valueStart };
    const next = afterSpace(body, end);
    if (body[next] !== COMMA) return;
    start = afterSpace(body, next + 1);
  }
}

/** The position after the value that begins at `at`. */
function valueEnd(body: Uint8Array, at: number): number {
  let depth = 0;
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
