/** One comparison of Cloudflare's Rules language, a field that is true or false, or a function that is. */
import { all, any, atLeast, below, exists, negated, oneOf, type Condition } from '../condition.ts';
import type { Reader } from '../scan.ts';
import {
  PATH_DIFFERENCE,
  compareForm,
  compareLength,
  compareRegex,
  compareText,
  type DifferenceNotes,
  type TextOperator,
} from '../text-subject.ts';
import { flagFields } from './fields.ts';
import { readValue, type TextValue } from './value.ts';
import { parseNetwork } from '../../../address/ip.ts';
import { ASN_MAX } from '../../../contract/management/policy-set/policy-fields.ts';
import { NotExpressible } from '../report.ts';

const affixes: Readonly<Record<string, TextOperator>> = { starts_with: 'startsWith', ends_with: 'endsWith' };

export function readComparison(reader: Reader, differences: DifferenceNotes): Condition {
  const { kind, value: word } = reader.next;
  if (kind !== 'word') throw reader.unexpected('a field, "not" or "("');
  if (word === 'true' || word === 'false') return reader.take().value === 'true';
  const flag = Object.hasOwn(flagFields, word) ? flagFields[word] : undefined;
  if (flag) return readFlag(reader, flag, differences);
  const affix = Object.hasOwn(affixes, word) ? affixes[word] : undefined;
  if (affix !== undefined) return readAffix(reader, affix, differences);
  if (word === 'any' || word === 'all') return readQuantified(reader, differences);
  if (word === 'has_key') return readHasKey(reader);
  const value = readValue(reader);
  const operator = readOperator(reader);
  if (value.kind === 'asn') return compareNumber(reader, operator);
  if (value.kind === 'address') return compareAddress(reader, operator);
  if (value.kind === 'length') {
    return compareLength(value, `${operator} ${reader.next.kind === 'word' ? reader.take().value : ''}`);
  }
  return compareTexts(reader, textOf(reader, value), operator, differences);
}

/** In one spelling. */
function readOperator(reader: Reader): string {
  const spellings: Readonly<Record<string, string>> = {
    '==': 'eq',
    '!=': 'ne',
    '<': 'lt',
    '<=': 'le',
    '>': 'gt',
    '>=': 'ge',
    '~': 'matches',
  };
  const { kind, value } = reader.next;
  if (kind === 'text' || kind === 'end') throw reader.unexpected('an operator, such as eq');
  reader.take();
  if (value === 'strict') {
    reader.needs('wildcard');
    return 'strict wildcard';
  }
  return spellings[value] ?? value;
}

function readFlag(
  reader: Reader,
  { condition, difference }: { condition: Condition; difference: string },
  differences: DifferenceNotes,
): Condition {
  reader.take();
  differences.add(difference);
  const isCompared = reader.skips('eq', '==');
  const isOpposite = !isCompared && reader.skips('ne', '!=');
  if (!isCompared && !isOpposite) return condition;
  if (reader.skips('true')) return isOpposite ? negated(condition) : condition;
  reader.needs('false');
  return isOpposite ? condition : negated(condition);
}

/** `starts_with(field, "text")` */
function readAffix(reader: Reader, operator: TextOperator, differences: DifferenceNotes): Condition {
  reader.take();
  reader.needs('(');
  const value = readValue(reader);
  reader.needs(',');
  const text = reader.text().value;
  reader.needs(')');
  const subject = textOf(reader, value);
  noteIndex(subject, differences);
  return compareText(subject, operator, [text], differences);
}

/** `any(list[*] eq "text")`. `all` also holds for an empty list, which a policy does not say. */
function readQuantified(reader: Reader, differences: DifferenceNotes): Condition {
  if (reader.next.value === 'all') throw reader.unexpected('any(…), because a policy cannot say all(…)');
  reader.take();
  reader.needs('(');
  const affix = Object.hasOwn(affixes, reader.next.value) ? affixes[reader.next.value] : undefined;
  const condition = affix === undefined ? readOfList(reader, differences) : readAffix(reader, affix, differences);
  reader.needs(')');
  return condition;
}

function readOfList(reader: Reader, differences: DifferenceNotes): Condition {
  const value = readValue(reader);
  const operator = readOperator(reader);
  if (value.kind === 'names') {
    if (operator !== 'eq' && operator !== 'in') throw reader.unexpected('a list of names compared with eq or in');
    const names = operator === 'in' ? readWords(reader) : [reader.text().value];
    return anyName(value.field, names);
  }
  if (value.kind !== 'text') throw reader.unexpected('a list of texts');
  // "Some value is another" is not "no value is this".
  if (operator === 'ne') throw reader.unexpected('an operator other than ne in any(…)');
  return compareTexts(reader, value, operator, differences);
}

function anyName(field: 'header' | 'cookie' | 'query', names: readonly string[]): Condition {
  return any(names.map((name) => exists({ field, name })));
}

/** `has_key(map, "name")` */
function readHasKey(reader: Reader): Condition {
  reader.take();
  reader.needs('(');
  const value = readValue(reader);
  if (value.kind !== 'map') throw reader.unexpected('headers, cookies or arguments in has_key');
  reader.needs(',');
  const name = reader.text().value;
  reader.needs(')');
  return exists({ field: value.field, name });
}

function textOf(reader: Reader, value: ReturnType<typeof readValue>): TextValue {
  if (value.kind === 'text') return value;
  throw reader.unexpected('a function of a text');
}

/** Comparisons of Cloudflare's numbers and addresses, which stand without quotes. */
function compareNumber(reader: Reader, operator: string): Condition {
  if (operator === 'in') {
    const words = readSet(reader);
    const single = words.filter((word) => !word.includes('..')).map(wholeNumber);
    const ranges = words.filter((word) => word.includes('..')).map(numberRange);
    return any([...(single.length > 0 ? [oneOf({ field: 'asn' }, 'in', single)] : []), ...ranges]);
  }
  const value = wholeNumber(readWord(reader, 'a number'));
  const equal: Condition = { field: 'asn', operator: 'equals', value };
  if (operator === 'eq') return equal;
  if (operator === 'ne') return negated(equal);
  if (operator === 'gt') return atLeast('asn', value + 1);
  if (operator === 'ge') return atLeast('asn', value);
  if (operator === 'lt') return below('asn', value);
  if (operator === 'le') return below('asn', value + 1);
  throw new NotExpressible(`a number cannot be compared with ${operator.slice(0, 20)}`);
}

function compareAddress(reader: Reader, operator: string): Condition {
  const words = operator === 'in' ? readSet(reader) : [readWord(reader, 'an address')];
  const bad = words.find((word) => parseNetwork(word) === null);
  if (bad !== undefined) {
    const isRange = bad.includes('..');
    throw new NotExpressible(`${bad.slice(0, 60)} is ${isRange ? 'a range; write it as networks' : 'no address'}`);
  }
  const found = oneOf({ field: 'ip' }, 'ipIn', words);
  if (operator === 'eq' || operator === 'in') return found;
  if (operator === 'ne') return negated(found);
  throw new NotExpressible(`an address cannot be compared with ${operator.slice(0, 20)}`);
}

/** `{a b c}`, or a list of the account, which the file does not have. */
function readSet(reader: Reader): string[] {
  if (reader.next.value.startsWith('$')) {
    const name = reader.next.value.slice(0, 60);
    throw new NotExpressible(
      `the list ${name} is kept by Cloudflare and is not in the file; write its values, or make access rules of them`,
    );
  }
  reader.needs('{');
  const words: string[] = [];
  while (!reader.skips('}')) words.push(readWord(reader, 'a value or "}"'));
  return words;
}

function readWord(reader: Reader, wanted: string): string {
  if (reader.next.kind !== 'word') throw reader.unexpected(wanted);
  return reader.take().value;
}

function wholeNumber(word: string): number {
  const number = /^\d{1,10}$/.test(word) ? Number(word) : Number.NaN;
  if (!(number <= ASN_MAX)) throw new NotExpressible(`${word.slice(0, 60)} is no number of a network`);
  return number;
}

function numberRange(word: string): Condition {
  const [first = '', last = '', ...more] = word.split('..');
  if (more.length > 0) throw new NotExpressible(`${word.slice(0, 60)} is no range`);
  return all([atLeast('asn', wholeNumber(first)), negated(atLeast('asn', wholeNumber(last) + 1))]);
}

/** Comparisons of Cloudflare's texts. */
function compareTexts(reader: Reader, value: TextValue, operator: string, differences: DifferenceNotes): Condition {
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
function noteIndex({ field, index }: TextValue, differences: DifferenceNotes): void {
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
function readWords(reader: Reader): string[] {
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
