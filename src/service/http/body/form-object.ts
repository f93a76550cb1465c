/**
 * Form fields to nested data: `settings[domains][0]=example.com`, `tags[]=a&tags[]=b`. A field given
 * twice, or as a value and as a parent, is refused: which one counts is a question between parsers
 * that attackers like to answer.
 */
import { ApiError } from '../api-error.ts';

/** Fields in one form: 10,000 edge rules of three members each, and room. */
const FORM_FIELDS_MAX = 50_000;
const FORM_DEPTH_MAX = 8;
/** Highest index of a bracketed array; indexes must be dense, so this bounds memory too. */
const FORM_INDEX_MAX = 9_999;

type Node = Map<string, Node | string>;

export function formObject(fields: Iterable<[string, string]>): Record<string, unknown> {
  const root: Node = new Map();
  let count = 0;
  for (const [name, value] of fields) {
    if (++count > FORM_FIELDS_MAX) {
      throw new ApiError('API.TOO_MANY_ITEMS', `A form may have ${FORM_FIELDS_MAX} fields at most`);
    }
    place(root, pathOf(name), value, name);
  }
  return plainObject(root);
}

/** Names that reach an object's prototype when they are copied carelessly. */
export function isForbiddenName(name: string): boolean {
  return name === '__proto__';
}

/** `a[b][]` → `['a', 'b', '']`; a name without well-formed brackets stands for itself. */
function pathOf(name: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  if (!match) return [name];
  const inner = match[2] ?? '';
  return [match[1] ?? '', ...Array.from(inner.matchAll(/\[([^[\]]*)\]/g), (part) => part[1] ?? '')];
}

function place(root: Node, path: string[], value: string, name: string): void {
  if (path.length > FORM_DEPTH_MAX) throw refused(name, `nests deeper than ${FORM_DEPTH_MAX} levels`);
  let node = root;
  for (const [depth, given] of path.entries()) {
    // `tags[]`: the next free index.
    const part = given === '' && depth > 0 ? String(node.size) : given;
    if (isForbiddenName(part)) throw refused(name, 'is a reserved name');
    const existing = node.get(part);
    if (depth === path.length - 1) {
      if (existing !== undefined) throw refused(name, 'is given more than once');
      node.set(part, value);
      return;
    }
    if (typeof existing === 'string') throw refused(name, 'is given both as a value and as a group');
    const child: Node = existing ?? new Map();
    if (!existing) node.set(part, child);
    node = child;
  }
}

function plainObject(node: Node): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, value] of node) object[name] = typeof value === 'string' ? value : plain(value);
  return object;
}

/** A group whose names are exactly 0 … n−1 is an array, in index order. */
function plain(node: Node): unknown {
  const size = node.size;
  const dense =
    size <= FORM_INDEX_MAX + 1 &&
    [...node.keys()].every((name) => /^(0|[1-9]\d{0,4})$/.test(name) && Number(name) < size);
  if (!dense) return plainObject(node);
  const object = plainObject(node);
  return Array.from({ length: size }, (_, index) => object[String(index)]);
}

function refused(name: string, message: string): ApiError {
  return new ApiError('API.INVALID_BODY', 'The form has a field that cannot be read', [
    { path: name.slice(0, 256), message },
  ]);
}
