/**
 * Reads a regular expression (RE2's syntax) as a list of texts that it matches. That is possible only for literals,
 * anchors, groups of alternatives, small classes of characters, `?` and `.*`. Everything else is not expressible, a
 * single `.` too: it stands for any character. The expression is never run.
 */
import { NotExpressible } from './report.ts';

/** What one alternative matches: literals with `.*` between them. */
export interface TextForm {
  /** `^`: nothing may stand before. */
  start: boolean;
  end: boolean;
  /** `null` stands for `.*`. None beside another, none at an end that is open anyway. */
  pieces: (string | null)[];
}

export interface RegexForm {
  forms: TextForm[];
  /** `(?i)`. `null`: nothing in it has a letter case. */
  ignoresCase: boolean | null;
}

type Item = 'start' | 'end' | 'any' | { text: string };
type Variant = readonly Item[];

const REGEX_MAX_CHARS = 4096;
const FORMS_MAX = 100;
const GROUPS_MAX = 20;
const CLASS_MAX_CHARS = 32;

/** @throws NotExpressible */
export function readRegex(source: string): RegexForm {
  if (source.length > REGEX_MAX_CHARS) {
    throw new NotExpressible(`the regular expression is longer than ${REGEX_MAX_CHARS} characters`);
  }
  const reader = new RegexReader(source);
  const forms = reader.whole().map(textForm);
  return { forms, ignoresCase: reader.ignoresCase() };
}

class RegexReader {
  readonly #source: string;
  #at = 0;
  #groups = 0;
  #isFolding = false;
  /** Whether a letter stood under `(?i)`, and whether one stood outside of it. */
  readonly #letters = { folded: false, exact: false };

  constructor(source: string) {
    this.#source = source;
  }

  whole(): Variant[] {
    if (this.#takes('(?i)')) this.#isFolding = true;
    const variants = this.#alternatives();
    if (this.#at < this.#source.length) throw this.#refused('a ")" without a "("');
    return variants;
  }

  ignoresCase(): boolean | null {
    const { folded, exact } = this.#letters;
    if (folded && exact)
      throw new NotExpressible('a part of the regular expression ignores letter case and a part does not');
    return folded || exact ? folded : null;
  }

  #alternatives(): Variant[] {
    let variants = this.#sequence();
    while (this.#takes('|')) variants = bounded([...variants, ...this.#sequence()]);
    return variants;
  }

  #sequence(): Variant[] {
    let variants: Variant[] = [[]];
    while (this.#at < this.#source.length && !'|)'.includes(this.#next())) {
      const next = this.#repeated(this.#item());
      variants = bounded(variants.flatMap((before) => next.map((after) => [...before, ...after])));
    }
    return variants;
  }

  #item(): Variant[] {
    const char = this.#next();
    if (char === '(') return this.#group();
    if (char === '[') return this.#class().map((text) => [{ text }]);
    this.#at += char.length;
    if (char === '^') return [['start']];
    if (char === '$') return [['end']];
    if (char === '.') {
      if (!this.#takes('*')) throw this.#refused('a "." stands for any character; a dot itself is "\\."');
      this.#takes('?');
      return [['any']];
    }
    if ('*+?{'.includes(char)) throw this.#refused(`"${char}" repeats nothing`);
    return [[{ text: this.#letter(char === '\\' ? this.#escaped() : char) }]];
  }

  /** `?` leaves out what stands before it. Other repetitions have no end. */
  #repeated(variants: Variant[]): Variant[] {
    const char = this.#next();
    if (char !== '' && '*+{'.includes(char)) throw this.#refused(`"${char}" repeats what stands before it`);
    if (!this.#takes('?')) return variants;
    this.#takes('?');
    return [...variants, []];
  }

  #group(): Variant[] {
    if (++this.#groups > GROUPS_MAX) throw new NotExpressible('the regular expression has too many groups');
    const wasFolding = this.#isFolding;
    if (this.#takes('(?i:')) this.#isFolding = true;
    else if (!this.#takes('(?:') && this.#source.startsWith('(?', this.#at)) throw this.#refused('this kind of group');
    else this.#takes('(');
    const variants = this.#alternatives();
    if (!this.#takes(')')) throw this.#refused('a "(" without a ")"');
    this.#isFolding = wasFolding;
    return variants;
  }

  /** Each character of `[...]`. */
  #class(): string[] {
    this.#at += 1;
    if (this.#next() === '^') throw this.#refused('"[^" stands for every other character');
    const chars: string[] = [];
    while (this.#next() !== ']') {
      const first = this.#classChar();
      const isRange = this.#next() === '-' && this.#source.charAt(this.#at + 1) !== ']';
      if (isRange) this.#at += 1;
      const last = isRange ? this.#classChar() : first;
      for (let code = first.codePointAt(0)!; code <= last.codePointAt(0)!; code++) {
        if (chars.push(this.#letter(String.fromCodePoint(code))) > CLASS_MAX_CHARS) {
          throw this.#refused(`a class of more than ${CLASS_MAX_CHARS} characters`);
        }
      }
    }
    this.#at += 1;
    return chars;
  }

  #classChar(): string {
    const char = this.#next();
    if (char === '') throw this.#refused('a "[" without a "]"');
    if (char === '[') throw this.#refused('a named class');
    this.#at += char.length;
    return char === '\\' ? this.#escaped() : char;
  }

  /** After a backslash. Letters and digits have a meaning there, other signs stand for themselves. */
  #escaped(): string {
    const char = this.#next();
    if (char === '' || /[A-Za-z0-9]/.test(char)) throw this.#refused(`"\\${char}" stands for more than one text`);
    this.#at += char.length;
    return char;
  }

  #letter(char: string): string {
    if (char.toLowerCase() !== char.toUpperCase()) this.#letters[this.#isFolding ? 'folded' : 'exact'] = true;
    return char;
  }

  #next(): string {
    const code = this.#source.codePointAt(this.#at);
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #refused(what: string): NotExpressible {
    return new NotExpressible(`the regular expression has no counterpart: at character ${this.#at + 1}, ${what}`);
  }
}

function bounded(variants: Variant[]): Variant[] {
  if (variants.length > FORMS_MAX) {
    throw new NotExpressible(`the regular expression stands for more than ${FORMS_MAX} texts`);
  }
  return variants;
}

function textForm(variant: Variant): TextForm {
  const start = variant[0] === 'start';
  const end = variant.at(-1) === 'end';
  const inner = variant.slice(start ? 1 : 0, end ? -1 : undefined);
  const pieces: (string | null)[] = [];
  for (const item of inner) {
    if (item === 'start' || item === 'end') {
      throw new NotExpressible('the regular expression has an anchor inside a text');
    }
    const last = pieces.at(-1);
    if (item === 'any') {
      if (last !== null || pieces.length === 0) pieces.push(null);
    } else if (typeof last === 'string') pieces[pieces.length - 1] = last + item.text;
    else pieces.push(item.text);
  }
  const opensStart = pieces[0] === null;
  if (opensStart) pieces.shift();
  const opensEnd = pieces.length > 0 ? pieces.at(-1) === null : opensStart;
  if (pieces.length > 0 && opensEnd) pieces.pop();
  return { start: start && !opensStart, end: end && !opensEnd, pieces };
}
