/**
 * Compares a name in the bytes of a body with the name of a field, in place: a body of 8 MiB can have a million names with
 * escapes, and a text made of each would cost a second. Only a name with characters above ASCII, which an origin may fold
 * into ASCII, becomes a text, and only a bounded number of them.
 */
import { parseJson } from '../../bytes/json.ts';

/** A page with two widgets has a field twice. No form that a person fills in has it more often than this. */
const TIMES_MAX = 1000;
/**
 * What may be folded into ASCII, in bytes of names: eighteen times as long, a name of ligatures costs that much to read.
 * Each name costs some bytes more. That is a thousand short names, more than a form has that a person fills in.
 */
const FOLDED_MAX_BYTES = 128 * 1024;
const FOLDED_NAME_BYTES = 120;
const PERCENT = 37;
const PLUS = 43;
const DOT = 46;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const UNDERSCORE = 95;
const SPACE = 32;
const LETTER_U = 117;
const ASCII_MAX = 127;
/** Marks an escape that cannot be decoded. */
const NO_CHARACTER = 0xffff;
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });
const encoder = new TextEncoder();

/** How characters are written in a kind of body. */
export interface Spelling {
  /** The character at a position times 16, plus how many bytes it takes: one number, because this runs for every byte. */
  read: (body: Uint8Array, at: number, end: number) => number;
  text: (body: Uint8Array, start: number, end: number) => string;
}

export const urlencoded: Spelling = {
  read(body, at, end) {
    const byte = body[at]!;
    if (byte === PLUS) return (SPACE << 4) | 1;
    if (byte !== PERCENT || at + 2 >= end) return (byte << 4) | 1;
    const code = (hexDigit(body[at + 1]!) << 4) | hexDigit(body[at + 2]!);
    return code < 0 ? (byte << 4) | 1 : (code << 4) | 3;
  },
  /** As `URLSearchParams` reads it, which in Node takes ten times as long for escapes that are no UTF-8. */
  text(body, start, end) {
    const bytes = new Uint8Array(end - start);
    let length = 0;
    for (let at = start; at < end; length++) {
      const read = urlencoded.read(body, at, end);
      bytes[length] = read >> 4;
      at += read & 15;
    }
    return decoder.decode(bytes.subarray(0, length));
  },
};

/** What stands behind a backslash, and what each of them is. */
const ESCAPED = '"/\\bfnrt';
const UNESCAPED = '"/\\\b\f\n\r\t';

/** Between the quotes. */
export const jsonString: Spelling = {
  read(body, at, end) {
    const byte = body[at]!;
    if (byte !== BACKSLASH) return (byte << 4) | 1;
    const escaped = body[at + 1] ?? 0;
    if (escaped !== LETTER_U || at + 5 >= end) {
      const place = ESCAPED.indexOf(String.fromCharCode(escaped));
      return ((place < 0 ? NO_CHARACTER : UNESCAPED.charCodeAt(place)) << 4) | 2;
    }
    let code = 0;
    for (let index = at + 2; index < at + 6; index++) code = (code << 4) | hexDigit(body[index]!);
    return code < 0 ? (NO_CHARACTER << 4) | 2 : (code << 4) | 6;
  },
  text(body, start, end) {
    const text = parseJson(encoder.encode(`"${decoder.decode(body.subarray(start, end))}"`));
    return typeof text === 'string' ? text : '';
  },
};

export class FieldName {
  readonly #plain: Uint8Array;
  readonly #isLoose: boolean;
  #times = 0;
  #foldedBytes = 0;
  /** Whether there was a name that an origin may read as this one, and that was not compared, or found too often. */
  isUnsure = false;

  private constructor(name: string, isLoose: boolean) {
    const plain = encoder.encode(name);
    this.#plain = isLoose ? plain.map(folded) : plain;
    this.#isLoose = isLoose;
  }

  static exact(name: string): FieldName {
    return new FieldName(name, false);
  }

  /**
   * Also a name that an origin binds to the same field, because it ignores letter case, as ASP.NET does, or changes names,
   * as PHP does (`+e.mail%00x` and `e_mail[]`).
   */
  static loose(name: string): FieldName {
    return new FieldName(name, true);
  }

  /** Whether the name between two positions is this one, for the first thousand that are. */
  isAt(body: Uint8Array, start: number, end: number, spelling: Spelling): boolean {
    if (!this.#isSpelled(body, start, end, spelling)) return false;
    const isWithin = ++this.#times <= TIMES_MAX;
    this.isUnsure ||= !isWithin;
    return isWithin;
  }

  /** Stops at the first character that differs. */
  #isSpelled(body: Uint8Array, start: number, end: number, spelling: Spelling): boolean {
    const plain = this.#plain;
    let from = start;
    let matched = 0;
    for (let at = start; at < end;) {
      const read = spelling.read(body, at, end);
      const code = read >> 4;
      if (code > ASCII_MAX) return this.#isLoose && this.#isFolded(body, from, end, spelling);
      at += read & 15;
      if (matched === plain.length) return this.#isLoose && this.#mayEndBefore(code);
      if (matched === 0 && this.#isLoose && isSpace(code)) {
        from = at;
        continue;
      }
      if ((this.#isLoose ? folded(code) : code) !== plain[matched]) return false;
      matched++;
    }
    return matched === plain.length;
  }

  /** Whether a name that is a text already is this one. */
  isText(text: string): boolean {
    return isAscii(text) || this.#mayFold(encoder.encode(text).length) ? this.#isSame(text) : false;
  }

  #isSame(text: string): boolean {
    const bytes = encoder.encode(this.#isLoose ? text.trimStart().normalize('NFKC') : text);
    const plain = this.#plain;
    if (bytes.length < plain.length) return false;
    if (bytes.length > plain.length && !(this.#isLoose && this.#mayEndBefore(bytes[plain.length]!))) return false;
    return plain.every((byte, at) => (this.#isLoose ? folded(bytes[at]!) : bytes[at]!) === byte);
  }

  #isFolded(body: Uint8Array, start: number, end: number, spelling: Spelling): boolean {
    return this.#mayFold(end - start) && this.#isSame(spelling.text(body, start, end));
  }

  /** False beyond the bounds: then nobody knows. */
  #mayFold(length: number): boolean {
    if (!this.#isLoose) return true;
    this.#foldedBytes += FOLDED_NAME_BYTES + length;
    const isWithin = this.#foldedBytes <= FOLDED_MAX_BYTES;
    this.isUnsure ||= !isWithin;
    return isWithin;
  }

  /** PHP ends a name at a bracket or a zero, and drops what follows a closed bracket. */
  #mayEndBefore(code: number): boolean {
    return code === 0 || code === OPEN_ARRAY || this.#plain.at(-1) === CLOSE_ARRAY;
  }
}

/** A to Z in lower case, and what PHP writes as an underscore. */
function folded(code: number): number {
  if (code > 64 && code < 91) return code + 32;
  return code === SPACE || code === DOT || code === OPEN_ARRAY ? UNDERSCORE : code;
}

function isSpace(code: number): boolean {
  return code === SPACE || (code > 8 && code < 14);
}

/** Below 0 for any other character. */
function hexDigit(code: number): number {
  if (code > 47 && code < 58) return code - 48;
  const letter = code | 32;
  return letter > 96 && letter < 103 ? letter - 87 : -1;
}

function isAscii(text: string): boolean {
  return !/[\u0080-\uffff]/.test(text);
}
