/**
 * The regular part of JavaScript's pattern syntax, read into a tree. JavaScript itself says first
 * whether the text is a pattern at all, and later what a class or an escape stands for, so that nothing
 * means something else here than where a site's owner tried it out.
 */

export type PatternNode =
  | { kind: 'char'; accepts: (code: number) => boolean }
  | { kind: 'assert'; holds: (text: string, at: number) => boolean }
  | { kind: 'sequence'; parts: readonly PatternNode[] }
  | { kind: 'choice'; branches: readonly PatternNode[] }
  | { kind: 'repeat'; part: PatternNode; min: number; max: number };

/** A longer counted repetition is no rule about an address. */
const COUNT_MAX = 64;
const DEPTH_MAX = 16;
const ASCII = 128;

interface Reader {
  readonly source: string;
  at: number;
  depth: number;
}

/** Thrown inside this module only: what is read is no regular pattern. */
class NotRegular extends Error {}

/** `null`: not a pattern, or one with look-around, back references or very long counts. */
export function parsePattern(source: string): PatternNode | null {
  try {
    void new RegExp(source, 'i');
    const reader: Reader = { source, at: 0, depth: 0 };
    const node = readChoice(reader);
    return reader.at === source.length ? node : null;
  } catch (error) {
    if (error instanceof NotRegular || error instanceof SyntaxError) return null;
    throw error;
  }
}

function readChoice(reader: Reader): PatternNode {
  if (++reader.depth > DEPTH_MAX) throw new NotRegular();
  const branches = [readSequence(reader)];
  while (reader.source[reader.at] === '|') {
    reader.at++;
    branches.push(readSequence(reader));
  }
  reader.depth--;
  return branches.length === 1 ? branches[0]! : { kind: 'choice', branches };
}

function readSequence(reader: Reader): PatternNode {
  const parts: PatternNode[] = [];
  for (;;) {
    const char = reader.source[reader.at];
    if (char === undefined || char === '|' || char === ')') return { kind: 'sequence', parts };
    parts.push(readRepeated(reader, readAtom(reader, char)));
  }
}

function readRepeated(reader: Reader, part: PatternNode): PatternNode {
  const found = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(reader.source.slice(reader.at));
  if (found === null) return part;
  reader.at += found[0].length;
  const sign = found[0][0]!;
  if (sign !== '{') return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
  const min = Number(found[1]);
  const max = found[2] === undefined ? min : found[3] === '' ? Infinity : Number(found[3]);
  if (min > COUNT_MAX || (max > COUNT_MAX && max !== Infinity)) throw new NotRegular();
  return { kind: 'repeat', part, min, max };
}

function readAtom(reader: Reader, char: string): PatternNode {
  const { source, at } = reader;
  if (char === '(') return readGroup(reader);
  if (char === '[') {
    const end = endOfClass(source, at);
    reader.at = end + 1;
    return oneOf(source.slice(at, end + 1));
  }
  if (char === '\\') return readEscape(reader);
  reader.at++;
  if (char === '^') return { kind: 'assert', holds: (_text, position) => position === 0 };
  if (char === '$') return { kind: 'assert', holds: (text, position) => position === text.length };
  if (char === '.') return oneOf('.');
  // A brace that counts nothing, or a closing bracket, stands for itself.
  return oneOf(/[{}\]]/.test(char) ? `\\${char}` : char);
}

function readGroup(reader: Reader): PatternNode {
  const { source, at } = reader;
  if (source[at + 1] !== '?') reader.at += 1;
  else if (source[at + 2] === ':') reader.at += 3;
  else throw new NotRegular();
  const inner = readChoice(reader);
  // JavaScript accepted the whole, so the bracket is there.
  reader.at++;
  return inner;
}

function readEscape(reader: Reader): PatternNode {
  const text = /^\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0(?!\d)|[dDwWsStnrfvbB]|[^A-Za-z0-9])/.exec(
    reader.source.slice(reader.at),
  )?.[0];
  if (text === undefined) throw new NotRegular();
  reader.at += text.length;
  if (text !== '\\b' && text !== '\\B') return oneOf(text);
  const wanted = text === '\\b';
  return { kind: 'assert', holds: (given, at) => (isWord(given, at - 1) !== isWord(given, at)) === wanted };
}

function isWord(text: string, at: number): boolean {
  return /^\w$/.test(text[at] ?? '');
}

/** One character that a class, an escape or a literal stands for; ASCII by table, the rest by asking. */
function oneOf(atom: string): PatternNode {
  const pattern = new RegExp(`^${atom}$`, 'i');
  const table = Array.from({ length: ASCII }, (_, code) => pattern.test(String.fromCharCode(code)));
  return { kind: 'char', accepts: (code) => (code < ASCII ? table[code]! : pattern.test(String.fromCharCode(code))) };
}

/** Index of the `]` that closes the class opened at `start`. */
function endOfClass(source: string, start: number): number {
  for (let index = start + 1; index < source.length; index++) {
    if (source[index] === '\\') index++;
    else if (source[index] === ']') return index;
  }
  throw new NotRegular();
}
