/**
 * The part of structured fields (RFC 8941) that signatures use: dictionaries of items and inner lists. A value is kept
 * as its canonical text, because that is what a signature signs. Numbers must be integers, written
 * canonically. A repeated key is an error here, where the RFC lets the last one count: two readers of a signature must
 * not see two signatures.
 */

/** A string, number, token, boolean or byte sequence as text: `"sig1"`, `1735689600`, `directory`, `?1`, `:AAAA:`. */
export type BareText = string;

export interface Member {
  /** Canonical, with parameters. */
  text: string;
  /** `null` for an inner list. */
  bare: BareText | null;
  items: readonly Member[];
  parameters: ReadonlyMap<string, BareText>;
}

export type Dictionary = ReadonlyMap<string, Member>;

const KEY = /[a-z*][a-z\d_.*-]*/y;
const BARE =
  /"(?:[ !#-[\]-~]|\\["\\])*"|:[A-Za-z\d+/]*={0,2}:|\?[01]|0|-?[1-9]\d{0,14}|[A-Za-z*][\w:/!#$%&'*+.^`|~-]*/y;
const SPACES = / */y;
const OPTIONAL_SPACE = /[ \t]*/y;
const COMMA = /,/y;
const EQUALS = /=/y;
const OPENING = /\(/y;
const CLOSING = /\)/y;
const SEMICOLON = /; */y;
/** Items are apart, and the last one may be. */
const BETWEEN = / +|(?=\))/y;
const TRUE = '?1';
/** Keys, values and signs of one field. Three signatures of 16 components have half as many. */
const PARTS_MAX = 500;

/** @throws for a text that is no dictionary, or has a key twice. */
export function parseDictionary(text: string): Dictionary {
  const read = reader(text);
  const members = new Map<string, Member>();
  while (!read.isDone()) {
    if (members.size > 0) {
      read.need(COMMA);
      read.take(OPTIONAL_SPACE);
    }
    const key = read.need(KEY);
    add(members, key, read.take(EQUALS) === null ? item(TRUE, read) : member(read));
    read.take(OPTIONAL_SPACE);
  }
  return members;
}

/** @throws for a text that is no item. */
export function parseItem(text: string): Member {
  const read = reader(text);
  const found = member(read);
  read.take(SPACES);
  if (!read.isDone()) throw new SyntaxError('text after an item');
  return found;
}

export function stringOf(bare: BareText | null | undefined): string | null {
  return bare?.startsWith('"') ? bare.slice(1, -1).replace(/\\(.)/g, '$1') : null;
}

/** `NaN` for anything but an integer. */
export function integerOf(bare: BareText | undefined): number {
  return /^-?\d+$/.test(bare ?? '') ? Number(bare) : Number.NaN;
}

/** `null` for anything but a byte sequence. */
export function bytesOf(bare: BareText | null | undefined): Uint8Array<ArrayBuffer> | null {
  if (!bare?.startsWith(':')) return null;
  return Uint8Array.from(atob(bare.slice(1, -1)), (character) => character.charCodeAt(0));
}

interface Reader {
  take(pattern: RegExp): string | null;
  need(pattern: RegExp): string;
  isDone(): boolean;
}

function reader(text: string): Reader {
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    at += found?.length ?? 0;
    return found;
  };
  let parts = 0;
  const need = (pattern: RegExp): string => {
    const found = take(pattern);
    if (found === null || ++parts > PARTS_MAX) throw new SyntaxError(`unexpected character at ${at}`);
    return found;
  };
  take(SPACES);
  return { take, need, isDone: () => at === text.length };
}

function member(read: Reader): Member {
  if (read.take(OPENING) === null) return item(bareOf(read), read);
  const items: Member[] = [];
  read.take(SPACES);
  while (read.take(CLOSING) === null) {
    items.push(item(bareOf(read), read));
    read.need(BETWEEN);
  }
  return withParameters(`(${items.map(({ text }) => text).join(' ')})`, null, items, read);
}

/** Padding and its bits may be missing or wrong, and are written anew. */
function bareOf(read: Reader): BareText {
  const bare = read.need(BARE);
  return bare.startsWith(':') ? `:${btoa(atob(bare.slice(1, -1)))}:` : bare;
}

function item(bare: BareText, read: Reader): Member {
  return withParameters(bare, bare, [], read);
}

function withParameters(value: string, bare: BareText | null, items: readonly Member[], read: Reader): Member {
  let text = value;
  const parameters = new Map<string, BareText>();
  while (read.take(SEMICOLON) !== null) {
    const key = read.need(KEY);
    const given = read.take(EQUALS) === null ? TRUE : bareOf(read);
    add(parameters, key, given);
    text += given === TRUE ? `;${key}` : `;${key}=${given}`;
  }
  return { text, bare, items, parameters };
}

function add<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  if (entries.has(key)) throw new RangeError('a key twice');
  entries.set(key, value);
}
