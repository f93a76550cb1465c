/**
 * The key of a list entry: a short text of fixed length for each kind of entry, whose order as text is the order of the
 * values. So a list is read and compared in order without parsing addresses, and many keys are one text without
 * separators. A single address is a network of full length, which is what a rule of the operator for it overrides.
 *
 *   4 + address (8 hex) + length (2 hex) | 6 + address (32 hex) + length (2 hex) | a + AS number (8 hex) | c + country
 */
import { formatV4, formatV6, parseCidr } from '../address/ip.ts';
import type { EdgeRuleType } from '../contract/vocabulary.ts';

const kindLengths: ReadonlyMap<string, number> = new Map([
  ['4', 11],
  ['6', 35],
  ['a', 9],
  ['c', 3],
]);

export interface EntryValue {
  type: EdgeRuleType;
  value: string;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** Host bits are clear; `words` has one word or four. */
export function networkKey(family: 4 | 6, words: ArrayLike<number>, prefixLength: number): string {
  const parts = Array.from({ length: family === 4 ? 1 : 4 }, (_, w) => hex(words[w] ?? 0, 8));
  // Joined, it is one text. Added up, it is a tree of its parts, which takes four times the memory.
  return [String(family), ...parts, hex(prefixLength, 2)].join('');
}

export function asnKey(asn: number): string {
  return `a${hex(asn, 8)}`;
}

export function countryKey(code: string): string {
  return `c${code}`;
}

/** `null`: rules of this type are no entries of lists. The value is canonical. */
export function keyOfRule({ type, value }: EntryValue): string | null {
  if (type === 'asn') return asnKey(Number(value));
  if (type === 'countryCode') return countryKey(value);
  const prefix = type === 'ipMask' ? parseCidr(value) : null;
  return prefix && networkKey(prefix.family, prefix.words, prefix.prefixLength);
}

/** The entry as a rule. @throws TypeError when it is no key. */
export function ruleOfKey(key: string): EntryValue {
  if (key.length !== kindLengths.get(key.charAt(0))) throw new TypeError('not the key of a list entry');
  switch (key.charAt(0)) {
    case '4':
      return { type: 'ipMask', value: `${formatV4(wordAt(key, 1))}/${lengthOf(key)}` };
    case '6': {
      const address = formatV6(wordAt(key, 1), wordAt(key, 9), wordAt(key, 17), wordAt(key, 25));
      return { type: 'ipMask', value: `${address}/${lengthOf(key)}` };
    }
    case 'a':
      return { type: 'asn', value: String(wordAt(key, 1)) };
    default:
      return { type: 'countryCode', value: key.slice(1) };
  }
}

/** The word at an offset of a key. */
export function wordAt(key: string, at: number): number {
  return Number.parseInt(key.slice(at, at + 8), 16);
}

export function lengthOf(key: string): number {
  return Number.parseInt(key.slice(-2), 16);
}

/** The keys of one text. @throws TypeError when it has anything else. */
export function* keysIn(text: string): Generator<string> {
  let at = 0;
  while (at < text.length) {
    const end = at + (kindLengths.get(text.charAt(at)) ?? Number.POSITIVE_INFINITY);
    if (end > text.length) throw new TypeError('not keys of list entries');
    yield text.slice(at, end);
    at = end;
  }
}

/** The last key of a text of keys. */
export function lastKeyOf(text: string): string {
  let last = '';
  for (const key of keysIn(text)) last = key;
  return last;
}
