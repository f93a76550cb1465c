/** Comparisons of Cloudflare's texts. */
import { any, type Condition, negated } from '../condition.ts';
import { NotExpressible } from '../report.ts';
import type { Reader } from '../scan.ts';
import { compareForm, compareRegex, compareText, type DifferenceNotes, PATH_DIFFERENCE } from '../text-subject.ts';
import type { TextValue } from './value.ts';

export function compareTexts(
  reader: Reader,
  value: TextValue,
  operator: string,
  differences: DifferenceNotes,
): Condition {
  noteIndex(value, differences);
  if (value.isExtension) return compareExtension(reader, operator, differences);
  if (operator === 'in') return compareText(value, 'equals', readWords(reader), differences);
  const token = reader.text();
  if (operator === 'eq') return compareText(value, 'equals', [token.value], differences);
  if (operator === 'ne') return negated(compareText(value, 'equals', [token.value], differences));
  if (operator === 'contains') return compareText(value, 'contains', [token.value], differences);
  if (operator === 'matches') return compareRegex(value, token.raw.replaceAll('\\"', '"'), differences);
  if (operator !== 'wildcard' && operator !== 'strict wildcard') {
    throw new NotExpressible(`a text cannot be compared with ${operator.slice(0, 20)}`);
  }
  const letterCase = operator === 'wildcard' ? 'folded' : value.letterCase;
  return compareWildcard({ ...value, letterCase }, token.value, differences);
}

/** What a policy does otherwise with the values of a name. */
export function noteIndex({ field, index }: TextValue, differences: DifferenceNotes): void {
  if (index === undefined) return;
  if (field === 'header') differences.add('a header that is sent several times is compared as one text, with commas');
  else if (index === '0') differences.add(`of a ${field} that is sent several times, any value counts`);
  if (field === 'query') differences.add('values of query parameters are compared decoded');
}

/** `*` is any text, and the whole text has to fit. */
function compareWildcard(value: TextValue, pattern: string, differences: DifferenceNotes): Condition {
  if (pattern.includes('\\')) throw new NotExpressible('a wildcard pattern with a backslash');
  const pieces = pattern
    .split(/(\*+)/)
    .filter((piece) => piece !== '')
    .map((piece) => (piece.startsWith('*') ? null : piece));
  const start = pieces[0] !== null;
  const end = pieces.at(-1) !== null;
  const inner = pieces.slice(start ? 0 : 1, end || pieces.length === 1 ? undefined : -1);
  return compareForm(value, { start, end, pieces: inner }, differences);
}

/** `{"a" "b"}` */
export function readWords(reader: Reader): string[] {
  reader.needs('{');
  const words: string[] = [];
  while (!reader.skips('}')) words.push(reader.text().value);
  return words;
}

/** The extension is in lower case and without its dot. */
function compareExtension(reader: Reader, operator: string, differences: DifferenceNotes): Condition {
  if (operator !== 'eq' && operator !== 'ne' && operator !== 'in') {
    throw new NotExpressible('the extension of a path can be compared with eq, ne and in only');
  }
  const words = operator === 'in' ? readWords(reader) : [reader.text().value];
  if (words.some((word) => !/^[a-z0-9_-]{1,40}$/.test(word))) {
    throw new NotExpressible('this extension cannot be said: a policy compares how a path ends');
  }
  differences.add(PATH_DIFFERENCE);
  const found = any(words.map((word) => ({ field: 'path', operator: 'endsWith', value: `.${word}` }) as const));
  return operator === 'ne' ? negated(found) : found;
}
