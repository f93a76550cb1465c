/**
 * The parameters of a widget under another product's API: the `data-` attributes of its place, and the object that the
 * page gave to `render`, which wins. They are copied, because some pages render several widgets with one object that
 * they change in between.
 */

/** Names are in lower case: pages write `cData`, `data-cdata` and `siteKey`. */
export type Options = ReadonlyMap<string, unknown>;

export function optionsOf(place: Element, given: object | undefined, inherits: boolean): Options {
  const options = new Map<string, unknown>();
  if (inherits)
    for (const { name, value } of place.attributes) if (name.startsWith('data-')) options.set(name.slice(5), value);
  for (const [name, value] of Object.entries(given ?? {})) if (value != null) options.set(name.toLowerCase(), value);
  return options;
}

/** The value as text; empty where it is missing or has none. */
export function textOf(options: Options, name: string): string {
  const value = options.get(name);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Calls a function of the page, given itself or by its name on `window`. What is no function is not called. */
export function callPage(named: unknown, ...values: unknown[]): unknown {
  const found = typeof named === 'string' ? (globalThis as unknown as Record<string, unknown>)[named] : named;
  return typeof found === 'function' ? (found as (...all: unknown[]) => unknown)(...values) : undefined;
}
