/**
 * Finds a field in the bytes of an urlencoded or JSON body without parsing the body. Parsing 8 MiB of `[[[[` or `a&a&` makes
 * some hundred megabytes of objects, and one such request would end an isolate. This costs one pass over the bytes and no
 * memory.
 */
export interface FieldRange {
  /** The whole pair or field, without its separators. */
  start: number;
  end: number;
  valueStart: number;
}

/** `%2D` is three bytes for one, `\u002d` six. */
const URLENCODED_GROWTH = 3;
const JSON_GROWTH = 6;
const QUOTE = 34;
const PERCENT = 37;
const PLUS = 43;
const AMPERSAND = 38;
const COMMA = 44;
const DOT = 46;
const COLON = 58;
const EQUALS = 61;
export const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const UNDERSCORE = 95;
export const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACE = 32;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Each pair with that name, in order. `field` is ASCII. `isLoose`: also with a name that an origin binds to the same field,
 * because it ignores letter case, as ASP.NET does, or changes names, as PHP does (`+e.mail%00x` and `e_mail[]`).
 */
export function* urlencodedFields(body: Uint8Array, field: string, isLoose = false): Generator<FieldRange> {
  const wanted = wantedName(field, isLoose);
  for (let start = 0, end = 0; start < body.length; start = end + 1) {
    end = body.indexOf(AMPERSAND, start);
    if (end < 0) end = body.length;
    if (end - start < field.length) continue;
    // What PHP drops of a name may be long.
    const nameMaxEnd = isLoose ? end : Math.min(end, start + field.length * URLENCODED_GROWTH + 1);
    let nameEnd = start;
    while (nameEnd < nameMaxEnd && body[nameEnd] !== EQUALS) nameEnd++;
    if (!isLoose && nameEnd - start > field.length * URLENCODED_GROWTH) continue;
    if (isPlain(body, start, nameEnd)) {
      if (!isSame(body, start, nameEnd, wanted)) continue;
    } else if (!isSameText(urlencodedText(body, start, nameEnd), wanted)) continue;
    yield { start, end, valueStart: Math.min(nameEnd + 1, end) };
  }
}

/**
 * Each value that the path of names (or list positions) leads to, in order. The last counts, as with `JSON.parse`.
 * `isLoose`: in any letter case, as Go and .NET read them.
 */
export function* jsonMembers(
  body: Uint8Array,
  path: readonly string[],
  isLoose = false,
  from = 0,
): Generator<FieldRange> {
  const [step = '', ...rest] = path;
  for (const member of membersNamed(step, body, afterSpace(body, from), isLoose)) {
    if (rest.length === 0) yield member;
    else yield* jsonMembers(body, rest, isLoose, member.valueStart);
  }
}

/** A list may end anywhere: the origin decides whether the document is valid. */
function* membersNamed(name: string, body: Uint8Array, open: number, isLoose: boolean): Generator<FieldRange> {
  const isObject = body[open] === OPEN_OBJECT;
  if (!isObject && (body[open] !== OPEN_ARRAY || !/^(?:0|[1-9]\d{0,6})$/.test(name))) return;
  const wanted = wantedName(name, isLoose);
  let start = afterSpace(body, open + 1);
  for (let place = 0; start < body.length && body[start] !== CLOSE_OBJECT && body[start] !== CLOSE_ARRAY; place++) {
    let valueStart = start;
    let fits = !isObject && place === Number(name);
    if (isObject) {
      const keyEnd = valueEnd(body, start);
      const colon = afterSpace(body, keyEnd);
      if (body[start] !== QUOTE || body[colon] !== COLON) return;
      fits = isText(body, start, keyEnd, wanted);
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
  for (let at = body.indexOf(QUOTE, open + 1); at >= 0; at = body.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (body[escapes - 1] === BACKSLASH) escapes--;
    if ((at - escapes) % 2 === 0) return at;
  }
  return body.length;
}

function isText(body: Uint8Array, start: number, end: number, wanted: WantedName): boolean {
  const { length } = wanted.plain;
  if (end - start < length + 2 || end - start > length * JSON_GROWTH + 2) return false;
  if (isPlain(body, start + 1, end - 1)) return isSame(body, start + 1, end - 1, wanted);
  try {
    return isSameText(JSON.parse(decoder.decode(body.subarray(start, end))) as string, wanted);
  } catch {
    return false;
  }
}

export function afterSpace(body: Uint8Array, from: number): number {
  let at = from;
  while (at < body.length && body[at]! <= SPACE) at++;
  return at;
}

interface WantedName {
  plain: Uint8Array;
  isLoose: boolean;
}

function wantedName(text: string, isLoose: boolean): WantedName {
  const plain = encoder.encode(text);
  return { plain: isLoose ? plain.map(folded) : plain, isLoose };
}

/** Whether an origin could bind this name of a form to the field. */
export function isLooselyNamed(name: string, field: string): boolean {
  return isSameText(name, wantedName(field, true));
}

function isSameText(text: string, wanted: WantedName): boolean {
  const bytes = encoder.encode(wanted.isLoose ? text.trimStart().normalize('NFKC') : text);
  return isSame(bytes, 0, bytes.length, wanted);
}

/** Most names are compared so, without a copy: a body can have millions of them. */
function isSame(body: Uint8Array, start: number, end: number, { plain, isLoose }: WantedName): boolean {
  const rest = start + plain.length;
  if (rest > end) return false;
  if (rest !== end && !(isLoose && (body[rest] === 0 || body[rest] === OPEN_ARRAY || plain.at(-1) === CLOSE_ARRAY)))
    return false;
  for (let at = 0; at < plain.length; at++) {
    const byte = body[start + at]!;
    if ((isLoose ? folded(byte) : byte) !== plain[at]) return false;
  }
  return true;
}

/** A to Z in lower case, and what PHP writes as an underscore. */
function folded(byte: number): number {
  if (byte > 64 && byte < 91) return byte + 32;
  return byte === SPACE || byte === DOT || byte === OPEN_ARRAY ? UNDERSCORE : byte;
}

/** ASCII that stands for itself, in a form and in JSON. */
function isPlain(body: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = body[at]!;
    if (byte < SPACE || byte > 127 || byte === PERCENT || byte === PLUS || byte === BACKSLASH) return false;
  }
  return true;
}

/** A name or a value of a form. */
export function urlencodedText(body: Uint8Array, start: number, end: number): string {
  return new URLSearchParams(`v=${decoder.decode(body.subarray(start, end))}`).get('v') ?? '';
}
