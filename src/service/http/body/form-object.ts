/**
 * Form fields as nested data: `settings[domains][0]=example.com`, `tags[]=a&tags[]=b`, `tags=a&tags=b`. A field that is
 * given twice is a list, which a schema for a single value refuses, and a field that is both a value and a group is
 * refused here. Two parsers that read such a form differently are what attackers use to get past the first one.
 */
import { failed, ok, type Result } from '../../../result.ts';
import type { BodyError } from '../service-error.ts';

/** Enough for 10,000 edge rules of three fields each. */
export const FORM_FIELDS_MAX = 50_000;
const FORM_DEPTH_MAX = 8;
/** No field has a longer name. Taking 1 MiB of `a[b][c]` apart would cost 50 ms. */
const FORM_NAME_MAX_CHARS = 1024;
/** Highest index of a bracketed array. Indexes must be dense, so this bounds memory too. */
const FORM_INDEX_MAX = 9_999;

/** Several values of one name are a list. */
type Node = Map<string, Node | string | string[]>;

export function formObject(fields: Iterable<[string, string]>): Result<Record<string, unknown>, BodyError> {
  const root: Node = new Map();
  let count = 0;
  for (const [name, value] of fields) {
    if (++count > FORM_FIELDS_MAX) return failed({ kind: 'too-many-fields', maxFields: FORM_FIELDS_MAX });
    const mistake = place(root, pathOf(name), value);
    if (mistake !== null) {
      return failed({ kind: 'form-field-unreadable', detail: { path: name.slice(0, 256), message: mistake } });
    }
  }
  return ok(plainObject(root));
}

/** A name that reaches the prototype of an object when someone copies it without care. */
export function isForbiddenName(name: string): boolean {
  return name === '__proto__';
}

/** `a[b][]` → `['a', 'b', '']`. A name that is too long, or whose brackets are not well-formed, is one part. */
function pathOf(name: string): string[] {
  if (name.length > FORM_NAME_MAX_CHARS) return [name];
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  if (!match) return [name];
  const inner = match[2] ?? '';
  return [match[1] ?? '', ...Array.from(inner.matchAll(/\[([^[\]]*)\]/g), (part) => part[1] ?? '')];
}

/** The mistake of the field, or `null` when it has its place. */
function place(root: Node, path: string[], value: string): string | null {
  if (path.length > FORM_DEPTH_MAX) return `nests deeper than ${FORM_DEPTH_MAX} levels`;
  let node = root;
  for (const [depth, given] of path.entries()) {
    // `tags[]`: the next free index.
    const part = given === '' && depth > 0 ? String(node.size) : given;
    if (isForbiddenName(part)) return 'is a reserved name';
    const existing = node.get(part);
    if (depth === path.length - 1) {
      if (existing instanceof Map) return 'is given both as a value and as a group';
      if (existing === undefined) node.set(part, value);
      else if (typeof existing === 'string') node.set(part, [existing, value]);
      else existing.push(value);
      return null;
    }
    if (existing !== undefined && !(existing instanceof Map)) return 'is given both as a value and as a group';
    const child: Node = existing ?? new Map();
    if (!existing) node.set(part, child);
    node = child;
  }
  return null;
}

function plainObject(node: Node): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, value] of node) object[name] = value instanceof Map ? plain(value) : value;
  return object;
}

/** A group whose names are exactly 0 … n−1 is an array, in the order of its indexes. */
function plain(node: Node): unknown {
  const size = node.size;
  const dense =
    size <= FORM_INDEX_MAX + 1 &&
    [...node.keys()].every((name) => /^(0|[1-9]\d{0,4})$/.test(name) && Number(name) < size);
  if (!dense) return plainObject(node);
  const object = plainObject(node);
  return Array.from({ length: size }, (_, index) => object[String(index)]);
}
