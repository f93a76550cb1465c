/**
 * The headers, cookies and query parameters that policies name, read from a request once and only when a policy asks. All
 * of it is a visitor's text: one walk in linear time, so many values and so many characters of each, and no escape or
 * byte throws.
 */
import type { HeaderValues } from '../request.ts';

/** What is longer is not compared, and nobody knows whether it fits. */
const VALUE_MAX_CHARS = 8192;
/** Of the names that policies use, for each of header, cookie and query. */
const VALUES_MAX = 256;
/** Above so many names, one walk over all headers costs less than a look-up for each. */
const LOOK_UPS_MAX = 4;
const TAB = 9;
const SPACE = 32;
const QUOTE = 34;
const PERCENT = 37;
const PLUS = 43;

/** Values by the place of their name. `undefined`: the request has none. */
export interface NamedValues {
  values: (string[] | undefined)[];
  /** Places that have values. */
  present: number[];
  /** Places with values that were not kept: too long, or too many. */
  more: Set<number> | null;
  kept: number;
}

/** The names of one kind that policies use, with a place for each. */
export class NamePlaces {
  readonly #places = new Map<string, number>();
  /** First characters, so that most other names are passed by unread. */
  readonly #firsts = new Uint8Array(128);

  get size(): number {
    return this.#places.size;
  }

  /** The place of a name, a new one where it has none. */
  add(name: string): number {
    const place = this.#places.get(name) ?? this.#places.size;
    this.#places.set(name, place);
    this.#firsts[name.charCodeAt(0)] = 1;
    return place;
  }

  mayBegin(character: number): boolean {
    return character > 127 || this.#firsts[character] === 1;
  }

  place(name: string): number | undefined {
    return this.#places.get(name);
  }

  names(): Iterable<string> {
    return this.#places.keys();
  }
}

export function readHeaderValues(places: NamePlaces, headers: HeaderValues): NamedValues {
  const found = none();
  if (places.size <= LOOK_UPS_MAX) {
    for (const name of places.names()) {
      const value = headers.get(name);
      if (value !== null) keep(found, places.place(name)!, value);
    }
    return found;
  }
  // oxlint-disable-next-line unicorn/no-array-for-each -- the iterator of the runtime's Headers makes a pair per header
  headers.forEach((value, name) => {
    const place = places.place(name);
    if (place !== undefined) keep(found, place, value);
  });
  return found;
}

/**
 * A runtime joins several `Cookie` headers by commas, and some origins end a cookie there as well. A value with a comma is
 * therefore read whole and cut: either may fit.
 */
export function readCookieValues(places: NamePlaces, header: string | null): NamedValues {
  const found = none();
  if (header === null) return found;
  walkCookies(places, header, found, false);
  if (header.includes(',')) walkCookies(places, header, found, true);
  return found;
}

function walkCookies(places: NamePlaces, header: string, found: NamedValues, endsAtComma: boolean): void {
  // Both only move on, so that the header is searched once for each sign, however rare it is.
  let comma = endsAtComma ? -1 : header.length;
  let equals = -1;
  for (let start = 0, end = 0; start < header.length; start = end + 1) {
    if (comma < start) comma = signFrom(header, ',', start);
    end = Math.min(comma, signFrom(header, ';', start));
    const name = afterSpace(header, start, end);
    if (!places.mayBegin(header.charCodeAt(name))) continue;
    if (equals < name) equals = signFrom(header, '=', name);
    const nameEnd = Math.min(equals, end);
    const place = places.place(header.slice(name, beforeSpace(header, name, nameEnd)));
    if (place !== undefined) keep(found, place, cookieValue(header, nameEnd + 1, end));
  }
}

/** The text's length when the sign is not there. */
function signFrom(text: string, sign: string, start: number): number {
  const at = text.indexOf(sign, start);
  return at < 0 ? text.length : at;
}

/** Without the quotes that may stand around it. */
function cookieValue(header: string, start: number, end: number): string {
  const first = afterSpace(header, start, end);
  const last = beforeSpace(header, first, end);
  const isQuoted = last - first > 1 && header.charCodeAt(first) === QUOTE && header.charCodeAt(last - 1) === QUOTE;
  return isQuoted ? header.slice(first + 1, last - 1) : header.slice(first, last);
}

function afterSpace(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text.charCodeAt(at))) at++;
  return at;
}

function beforeSpace(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

function isSpace(character: number): boolean {
  return character === SPACE || character === TAB;
}

/** `query` with its `?`. Names and values as forms write them: `+` is a space, `%XX` a byte of UTF-8. */
export function readQueryValues(places: NamePlaces, query: string): NamedValues {
  const found = none();
  for (let start = 1, end = 0; start < query.length; start = end + 1) {
    end = signFrom(query, '&', start);
    const first = query.charCodeAt(start);
    if (first !== PERCENT && first !== PLUS && !places.mayBegin(first)) continue;
    const piece = query.slice(start, end);
    const equals = signFrom(piece, '=', 0);
    const place = places.place(decoded(piece.slice(0, equals)));
    if (place !== undefined) keep(found, place, decoded(piece.slice(equals + 1)));
  }
  return found;
}

function none(): NamedValues {
  return { values: [], present: [], more: null, kept: 0 };
}

function keep(found: NamedValues, place: number, value: string): void {
  const { values, present } = found;
  let known = values[place];
  if (known === undefined) {
    values[place] = known = [];
    present.push(place);
  }
  // First, so that a header of ten thousand values is not compared with the ones that are kept.
  if (value.length > VALUE_MAX_CHARS || found.kept >= VALUES_MAX) (found.more ??= new Set()).add(place);
  else if (!known.includes(value)) {
    known.push(value);
    found.kept++;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Bytes that are no UTF-8 become U+FFFD; a `%` that begins no escape stays. */
function decoded(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  return spaced.replace(/(?:%[0-9a-fA-F]{2})+/g, (escapes) => {
    const bytes = new Uint8Array(escapes.length / 3);
    for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(escapes.slice(3 * at + 1, 3 * at + 3), 16);
    return utf8.decode(bytes);
  });
}
