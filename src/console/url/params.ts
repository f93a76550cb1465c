/**
 * The state of a view, kept in the address, so that everyone who opens the address sees the same view. A parameter with its default
 * is left out.
 */
import { useLocation } from 'preact-iso/router';
import { useLayoutEffect, useState } from 'preact/hooks';

export type Params = Readonly<Record<string, string>>;

/** The current parameters, and a function that changes some of them (`null` or `''` removes one). */
export function useParams(): [Params, (change: Readonly<Record<string, string | null>>, replace?: boolean) => void] {
  const { path, query, route } = useLocation();
  const change = (changes: Readonly<Record<string, string | null>>, replace = false): void => {
    route(addressOf(path, { ...query, ...changes }), replace);
  };
  return [query, change];
}

export function addressOf(path: string, params: Readonly<Record<string, string | null | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, value);
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

export interface Draft {
  textOf: (name: string) => string;
  write: (name: string, text: string) => void;
  /** For the address: the parameters as they were typed. */
  typed: () => Record<string, string | null>;
}

/** What is typed into fields whose values are in the address once they are submitted. */
export function useDraft(names: readonly string[]): Draft {
  const [params] = useParams();
  const [draft, setDraft] = useState(params);
  // The address also changes by the back button. A layout effect runs before the next event of the visitor; another effect
  // would run a frame later, and put the values back over what is typed meanwhile.
  useLayoutEffect(() => setDraft(params), [JSON.stringify(params)]);
  return {
    textOf: (name) => draft[name] ?? '',
    write: (name, text) => setDraft((former) => ({ ...former, [name]: text })),
    typed: () => Object.fromEntries(names.map((name) => [name, draft[name]?.trim() ?? null])),
  };
}
