/** The left side of a comparison: a field, one with a name and an index, or a function of one that a policy can say. */
import { NotExpressible } from '../report.ts';
import type { Reader } from '../scan.ts';
import type { TextSubject } from '../text-subject.ts';
import { EXTENSION_FIELD, addressFields, asnFields, nameLists, reasonWithout, textFields, textMaps } from './fields.ts';

export interface TextValue extends TextSubject {
  kind: 'text';
  /** The part of a path behind its last dot. */
  isExtension?: true;
  /** One of a name's values, by its index. */
  index?: '0' | '*';
}

export interface LengthValue extends TextSubject {
  kind: 'length';
}

export type Value =
  | TextValue
  | LengthValue
  | { kind: 'names' | 'map'; field: 'header' | 'cookie' | 'query' }
  | { kind: 'asn' | 'address' };

const functions: readonly string[] = ['lower', 'upper', 'len', 'url_decode'];

export function readValue(reader: Reader): Value {
  return reader.nested(() => {
    const word = reader.next.kind === 'word' ? reader.take().value : '';
    if (word === '') throw reader.unexpected('a field');
    const value = reader.skips('(') ? readFunction(reader, word) : readField(reader, word);
    // Of lower(list[*])[*].
    return value.kind === 'text' && reader.skips('[') ? { ...value, index: readIndex(reader) } : value;
  });
}

function readFunction(reader: Reader, name: string): Value {
  if (!functions.includes(name))
    throw new NotExpressible(`a policy has nothing like the function ${name.slice(0, 60)}()`);
  const value = readValue(reader);
  reader.needs(')');
  if (value.kind !== 'text') throw new NotExpressible(`${name}() of something that is no single text`);
  if (name === 'len') return { ...value, kind: 'length' };
  if (name === 'lower') return { ...value, letterCase: 'lower' };
  if (name === 'url_decode' && value.field === 'query') return value;
  throw new NotExpressible(`a policy has nothing like ${name}() of this field`);
}

function readField(reader: Reader, word: string): Value {
  if (asnFields.includes(word)) return { kind: 'asn' };
  if (addressFields.includes(word)) return { kind: 'address' };
  if (word === EXTENSION_FIELD) return { kind: 'text', field: 'path', letterCase: 'exact', isExtension: true };
  if (Object.hasOwn(textFields, word)) return { kind: 'text', ...textFields[word]!, letterCase: 'exact' };
  if (Object.hasOwn(nameLists, word)) {
    reader.needs('[');
    readIndex(reader);
    return { kind: 'names', field: nameLists[word]! };
  }
  if (!Object.hasOwn(textMaps, word)) throw new NotExpressible(reasonWithout(word));
  const field = textMaps[word]!;
  if (!reader.skips('[')) return { kind: 'map', field };
  const name = reader.text().value;
  reader.needs(']');
  return { kind: 'text', field, name, letterCase: 'exact' };
}

/** `[0]` or `[*]`, from behind the bracket. A policy compares every value that a name has. */
function readIndex(reader: Reader): '0' | '*' {
  const index = reader.skips('*') ? '*' : reader.skips('0') ? '0' : null;
  if (index === null) throw reader.unexpected('[0] or [*], because a policy does not number the values of a name');
  reader.needs(']');
  return index;
}
