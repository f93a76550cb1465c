/**
 * Structured fields (RFC 9651) as signatures use them. `structured-headers` reads and writes them: what a signature signs
 * is a value's canonical text. Its reading follows the RFC; this one is stricter, because the text is a stranger's:
 *
 * - A repeated key is an error, where the RFC lets the last one count. Two readers must not see two signatures.
 * - No signature uses decimals, dates or display strings, and the library writes the decimal 1.0 as the integer 1.
 * - A field has a bounded number of keys, and callers bound its length.
 */
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  isInnerList,
  type Item,
  parseDictionary as readDictionary,
  parseItem as readItem,
  serializeInnerList,
  serializeItem,
  Token,
} from 'structured-headers';

export type { Dictionary, InnerList, Item };
export type Member = Item | InnerList;

/** A longer field is not read. A signature by RSA with 4,096 bits has 700 characters. */
export const FIELD_MAX_CHARS = 4096;
/** The most keys of a field, members and parameters together. Three signatures of 16 components have half as many. */
const KEYS_MAX = 250;

/** To the end of the text where it is not closed, so that hostile text takes linear time. */
const STRING = /"(?:[^"\\]|\\.)*"?/g;
const DISPLAY_STRING_DATE_OR_DECIMAL = /%"|@|(?:^|[=( ])-?\d+\./;

/** @throws RangeError for a key twice, another error for a text that is no dictionary. */
export function parseDictionary(text: string): Dictionary {
  const written = keysWritten(text);
  const members = readDictionary(text);
  let kept = members.size;
  for (const member of members.values()) kept += parametersOf(member);
  if (kept > 0 && kept < written) throw new RangeError('a key twice');
  return members;
}

/** @throws RangeError for a parameter twice, another error for a text that is no item. */
export function parseItem(text: string): Item {
  const written = keysWritten(text);
  const item = readItem(text);
  if (1 + parametersOf(item) < written) throw new RangeError('a parameter twice');
  return item;
}

/** Canonical, with parameters: `"a";key="b"`, `("@authority" "date");created=1735689600`, `:AAAA:`. */
export function serialized(member: Member): string {
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member);
}

export function stringOf(value: Member[0] | BareItem | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

export function isToken(value: BareItem | undefined, name: string): boolean {
  return value instanceof Token && value.toString() === name;
}

/** `NaN` for anything but an integer. */
export function integerOf(value: BareItem | undefined): number {
  return typeof value === 'number' ? value : Number.NaN;
}

/** `null` for anything but a byte sequence. */
export function bytesOf(member: Member | undefined): Uint8Array<ArrayBuffer> | null {
  const value = member?.[0];
  return value instanceof ArrayBuffer ? new Uint8Array(value) : null;
}

/** Members and parameters of the text: outside strings, nothing but a separator is a comma or a semicolon. */
function keysWritten(text: string): number {
  const outside = text.replace(STRING, '""');
  if (DISPLAY_STRING_DATE_OR_DECIMAL.test(outside)) throw new SyntaxError('a type that no signature uses');
  const keys = 1 + (outside.match(/[,;]/g)?.length ?? 0);
  if (keys > KEYS_MAX) throw new SyntaxError('too many keys');
  return keys;
}

function parametersOf(member: Member): number {
  const own = member[1].size;
  return isInnerList(member) ? member[0].reduce((sum, [, parameters]) => sum + parameters.size, own) : own;
}
