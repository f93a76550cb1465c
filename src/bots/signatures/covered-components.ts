/**
 * What a signature covers, and the text that was signed (RFC 9421, 2.5). A component is read from the request that
 * carries the signature, never from what the signature says.
 */
import {
  type Dictionary,
  FIELD_MAX_CHARS,
  type Item,
  parseDictionary,
  stringOf,
  serialized,
} from './structured-fields.ts';

/** A plain object, because a Worker pays for each reading of a property of its `Request`. */
export interface SignedRequest {
  method: string;
  /** As a Worker gets it: absolute and normalised. */
  url: string;
  headers: Pick<Headers, 'get'>;
}

export interface Component {
  name: string;
  /** Of a dictionary field: the member that is covered. */
  key: string | null;
  /** How the signed text spells the component. */
  identifier: string;
  /** Of the signature's own fields, which are read once; `undefined` is read from each request. */
  value?: string;
}

/** A signature can cover each member of one field, which is then read once. */
const DICTIONARIES_MAX = 16;
const dictionaries = new Map<string, Dictionary | null>();

const derived = new Map<string, (request: SignedRequest) => string>([
  ['@method', ({ method }) => method],
  ['@target-uri', ({ url }) => url],
  ['@scheme', ({ url }) => url.slice(0, url.indexOf(':'))],
  ['@authority', ({ url }) => url.slice(url.indexOf('://') + 3, pathStart(url))],
  ['@path', ({ url }) => url.slice(pathStart(url), queryStart(url))],
  ['@query', ({ url }) => url.slice(queryStart(url)) || '?'],
  ['@request-target', ({ url }) => url.slice(pathStart(url))],
]);

function pathStart(url: string): number {
  return url.indexOf('/', url.indexOf('://') + 3);
}

function queryStart(url: string): number {
  const at = url.indexOf('?');
  return at < 0 ? url.length : at;
}

/** `null`: a component that is not known here, such as one with the parameters `sf`, `bs` or `req`. */
export function componentOf(item: Item): Component | null {
  const [bare, parameters] = item;
  const name = stringOf(bare);
  if (name === null || name !== name.toLowerCase()) return null;
  const key = stringOf(parameters.get('key'));
  const isKnown = name.startsWith('@')
    ? derived.has(name) && parameters.size === 0
    : /^[\w!#$%&'*+.^`|~-]+$/.test(name) && parameters.size === (key === null ? 0 : 1);
  return isKnown ? { name, key, identifier: serialized(item) } : null;
}

/** `null` where the request does not have a component. `ending` is the line of the signature's own parameters. */
export function signedText(request: SignedRequest, components: readonly Component[], ending: string): string | null {
  let text = '';
  for (const component of components) {
    const value = valueOf(request, component);
    if (value === null) return null;
    text += `${component.identifier}: ${value}\n`;
  }
  return text + ending;
}

function valueOf(request: SignedRequest, { name, key, value }: Component): string | null {
  if (value !== undefined) return value;
  const read = derived.get(name);
  if (read !== undefined) return read(request);
  const field = request.headers.get(name);
  return field === null || key === null ? (field?.trim() ?? null) : memberText(field, key);
}

/** One member of a dictionary field, as the signed text spells it. */
export function memberText(field: string, key: string): string | null {
  const member = field.length > FIELD_MAX_CHARS ? undefined : dictionaryOf(field)?.get(key);
  return member === undefined ? null : serialized(member);
}

function dictionaryOf(field: string): Dictionary | null {
  let found = dictionaries.get(field);
  if (found === undefined) {
    try {
      found = parseDictionary(field);
    } catch {
      found = null;
    }
    if (dictionaries.size >= DICTIONARIES_MAX) dictionaries.clear();
    dictionaries.set(field, found);
  }
  return found;
}
