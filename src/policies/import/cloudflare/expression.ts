/**
 * Reads an expression of Cloudflare's Rules language as the condition of a policy. `not` binds closer than `and`, `and`
 * closer than `xor`, `xor` closer than `or`. What a policy cannot say, in whole, is refused with the reason.
 */
import { all, any, negated, type Condition } from '../condition.ts';
import { NotExpressible } from '../report.ts';
import { type Lexicon, quotedText, Reader, scan } from '../scan.ts';
import type { DifferenceNotes } from '../text-subject.ts';
import { readComparison } from './comparison.ts';

/** @throws NotExpressible */
export function readCloudflareExpression(source: string, differences: DifferenceNotes): Condition {
  const reader = new Reader(scan(source, cloudflareLexicon));
  const condition = readOr(reader, differences);
  if (reader.next.kind !== 'end') throw reader.unexpected('"and", "or" or the end');
  return condition;
}

function readOr(reader: Reader, differences: DifferenceNotes): Condition {
  const parts = [readXor(reader, differences)];
  while (reader.skips('or', '||')) parts.push(readXor(reader, differences));
  return any(parts);
}

function readXor(reader: Reader, differences: DifferenceNotes): Condition {
  let left = readAnd(reader, differences);
  while (reader.skips('xor', '^^')) {
    const right = readAnd(reader, differences);
    left = any([all([left, negated(right)]), all([negated(left), right])]);
  }
  return left;
}

function readAnd(reader: Reader, differences: DifferenceNotes): Condition {
  const parts = [readNot(reader, differences)];
  while (reader.skips('and', '&&')) parts.push(readNot(reader, differences));
  return all(parts);
}

function readNot(reader: Reader, differences: DifferenceNotes): Condition {
  return reader.nested(() => {
    if (reader.skips('not', '!')) return negated(readNot(reader, differences));
    if (!reader.skips('(')) return readComparison(reader, differences);
    const inner = readOr(reader, differences);
    reader.needs(')');
    return inner;
  });
}

const RAW_TEXT = /r(#{0,8})"/y;
const ESCAPED = /\\(?:x([0-9A-Fa-f]{2})|([0-7]{3})|(["\\]))/y;

/**
 * Words of Cloudflare's Rules language. Names of fields have dots, and addresses, networks, ranges and lists (`$name`)
 * stand without quotes, so all of these are words here. `r"…"` and `r#"…"#` are texts without escapes.
 */
const cloudflareLexicon: Lexicon = {
  word: /[$A-Za-z0-9_:][$A-Za-z0-9_.:/]*(?:-[A-Za-z0-9_.]+)*/y,
  signs: '&& || ^^ == != <= >= < > ~ ! ( ) { } [ ] , * &'.split(' '),
  textAt: (source, offset) => {
    RAW_TEXT.lastIndex = offset;
    const raw = RAW_TEXT.exec(source);
    if (raw) return rawText(source, offset + raw[0].length, `"${raw[1]}`);
    if (source.charAt(offset) !== '"') return null;
    return quotedText(source, offset + 1, '"', (at) => escapeOf(source, at));
  },
};

function rawText(source: string, start: number, closing: string): ReturnType<Lexicon['textAt']> {
  const end = source.indexOf(closing, start);
  if (end < 0) throw new NotExpressible(`a text has no closing quote, from character ${start}`);
  const value = source.slice(start, end);
  return { value, raw: value, end: end + closing.length };
}

function escapeOf(source: string, at: number): { value: string; chars: number } {
  ESCAPED.lastIndex = at;
  const [whole, hex, octal, sign] = ESCAPED.exec(source) ?? [];
  // Regular expressions have escapes of their own.
  if (whole === undefined) return { value: source.slice(at, at + 2), chars: 2 };
  const code = hex === undefined ? Number.parseInt(octal!, 8) : Number.parseInt(hex, 16);
  return { value: sign ?? String.fromCharCode(code), chars: whole.length };
}
