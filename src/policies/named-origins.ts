/** An instance's origins as a list, as edges get them and differences compare them. */
import type { NamedOrigin, Origin } from '../contract/management/policy-set/origin.ts';

/** In the order of their names: the order of a record's keys means nothing. */
export function namedOrigins(origins: Readonly<Record<string, Origin>>): NamedOrigin[] {
  const names = Object.keys(origins).toSorted();
  return names.map((name) => ({ name, ...origins[name]! }));
}
