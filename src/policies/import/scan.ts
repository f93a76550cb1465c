/** Splits an expression of another product into its words, texts and signs. What these are, the product's grammar says. */
import { NotExpressible, SOURCE_MAX_CHARS } from './report.ts';

export interface SourceToken {
  kind: 'word' | 'text' | 'sign' | 'end';
  /** As written; of a text, what it says. */
  value: string;
  /** Of a text: what stands between its quotes, escapes and all. */
  raw: string;
  offset: number;
}

export interface Lexicon {
  /** Sticky. */
  word: RegExp;
  /** The longer before the shorter. */
  signs: readonly string[];
  /** The text that begins at `offset`, or `null`. `end`: behind it. */
  textAt: (source: string, offset: number) => { value: string; raw: string; end: number } | null;
}

const TOKENS_MAX = 4000;
const SPACE = /\s*/y;

/** @throws NotExpressible */
export function scan(source: string, { word, signs, textAt }: Lexicon): SourceToken[] {
  if (source.length > SOURCE_MAX_CHARS) {
    throw new NotExpressible(`the expression is longer than ${SOURCE_MAX_CHARS} characters`);
  }
  const tokens: SourceToken[] = [];
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    SPACE.test(source);
    const offset = SPACE.lastIndex;
    if (offset >= source.length) return [...tokens, { kind: 'end', value: '', raw: '', offset }];
    if (tokens.length >= TOKENS_MAX) throw new NotExpressible(`the expression has more than ${TOKENS_MAX} words`);
    const text = textAt(source, offset);
    const sign = text ? undefined : signs.find((one) => source.startsWith(one, offset));
    word.lastIndex = offset;
    const found = text || sign !== undefined ? null : word.exec(source)?.[0];
    if (text) tokens.push({ kind: 'text', value: text.value, raw: text.raw, offset });
    else if (sign !== undefined) tokens.push({ kind: 'sign', value: sign, raw: sign, offset });
    else if (found) tokens.push({ kind: 'word', value: found, raw: found, offset });
    else
      throw new NotExpressible(
        `unexpected character ${JSON.stringify(source.charAt(offset))} at character ${offset + 1}`,
      );
    at = text ? text.end : offset + (sign ?? found ?? '').length;
  }
}

/**
 * A text from behind its opening quote. `escapeAt` says what a backslash stands for and how many characters the escape
 * has.
 */
export function quotedText(
  source: string,
  start: number,
  quote: string,
  escapeAt: (at: number) => { value: string; chars: number },
): ReturnType<Lexicon['textAt']> {
  let value = '';
  let at = start;
  while (!source.startsWith(quote, at)) {
    const char = source.charAt(at);
    if (char === '') throw new NotExpressible(`a text has no closing quote, from character ${start}`);
    const read = char === '\\' ? escapeAt(at) : { value: char, chars: 1 };
    value += read.value;
    at += read.chars;
  }
  return { value, raw: source.slice(start, at), end: at + quote.length };
}

/** Reads tokens in turn. */
export class Reader {
  readonly #tokens: readonly SourceToken[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly SourceToken[]) {
    this.#tokens = tokens;
  }

  get next(): SourceToken {
    return this.#tokens[this.#at]!;
  }

  take(): SourceToken {
    const token = this.next;
    if (token.kind !== 'end') this.#at += 1;
    return token;
  }

  /** Takes a word or sign if it is next, and says which of these it was. */
  skips(...values: readonly string[]): boolean {
    const { kind, value } = this.next;
    if (kind === 'text' || kind === 'end' || !values.includes(value)) return false;
    this.take();
    return true;
  }

  /** @throws NotExpressible */
  needs(sign: string): void {
    if (!this.skips(sign)) throw this.unexpected(`"${sign}"`);
  }

  text(): SourceToken {
    if (this.next.kind !== 'text') throw this.unexpected('a text in quotes');
    return this.take();
  }

  unexpected(wanted: string): NotExpressible {
    const { kind, value, offset } = this.next;
    const found = kind === 'end' ? 'the end' : JSON.stringify(value.slice(0, 40));
    return new NotExpressible(`expected ${wanted}, found ${found} at character ${offset + 1}`);
  }

  /** Bounds how deep a reader calls itself, so that no text overflows the stack. */
  nested<Read>(read: () => Read): Read {
    this.#depth += 1;
    if (this.#depth > NESTED_MAX) throw new NotExpressible(`the expression is nested deeper than ${NESTED_MAX} levels`);
    const result = read();
    this.#depth -= 1;
    return result;
  }
}

const NESTED_MAX = 60;
