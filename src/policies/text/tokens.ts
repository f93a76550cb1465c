/** The words of a condition's text form, one after the other. A text in quotes has the escapes of JSON. */

export interface Token {
  /** `bad`: no token begins here, and `value` says why. */
  kind: 'word' | 'text' | 'number' | 'sign' | 'end' | 'bad';
  /** As written; of a text, what it says. */
  value: string;
  offset: number;
  end: number;
}

export interface TextProblem {
  offset: number;
  message: string;
}

const SIGN = /[()[\],]|[=!]=/y;
const SHOWN_MAX_CHARS = 40;
const WORD = /[A-Za-z][A-Za-z0-9]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;
const PLAIN_TEXT = /[^"\\\p{Cc}]*/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

export class Tokens {
  readonly #text: string;
  #next: Token;

  constructor(text: string) {
    this.#text = text;
    this.#next = tokenAt(text, 0);
  }

  get next(): Token {
    return this.#next;
  }

  take(): Token {
    const token = this.#next;
    this.#next = tokenAt(this.#text, token.end);
    return token;
  }

  /** Takes this sign if it is next. */
  skips(sign: string): boolean {
    if (this.#next.kind !== 'sign' || this.#next.value !== sign) return false;
    this.take();
    return true;
  }
}

export function expected(wanted: string, { kind, value, offset }: Token): TextProblem {
  if (kind === 'bad') return { offset, message: value };
  const shown = value.length > SHOWN_MAX_CHARS ? `${value.slice(0, SHOWN_MAX_CHARS)}…` : value;
  return { offset, message: `expected ${wanted}, found ${kind === 'end' ? 'the end' : JSON.stringify(shown)}` };
}

/** The token that begins at `from` or after the space there. Each pattern has one way to match, so none goes back. */
function tokenAt(text: string, from: number): Token {
  const offset = endOf(SPACE, text, from);
  if (offset >= text.length) return { kind: 'end', value: '', offset, end: offset };
  const char = String.fromCodePoint(text.codePointAt(offset)!);
  if (char === '"') return textAt(text, offset);
  for (const [kind, pattern] of [
    ['sign', SIGN],
    ['word', WORD],
    ['number', NUMBER],
  ] as const) {
    const end = endOf(pattern, text, offset);
    if (end > offset) return { kind, value: text.slice(offset, end), offset, end };
  }
  return bad(offset, `unexpected character ${JSON.stringify(char)}`);
}

function textAt(text: string, offset: number): Token {
  let at = offset + 1;
  for (;;) {
    at = endOf(PLAIN_TEXT, text, at);
    if (at >= text.length) return bad(offset, 'this text has no closing quote');
    const char = text.charAt(at);
    if (char === '"') break;
    if (char !== '\\') return bad(at, 'a text must not have control characters; write them as \\n or \\u0000');
    const end = endOf(ESCAPE, text, at);
    if (end === at) return bad(at, 'unknown escape; there are \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u0000');
    at = end;
  }
  const value = JSON.parse(text.slice(offset, at + 1)) as string;
  return { kind: 'text', value, offset, end: at + 1 };
}

function bad(offset: number, message: string): Token {
  return { kind: 'bad', value: message, offset, end: offset };
}

/** Where the match of a sticky pattern ends; `from` when there is none. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}
