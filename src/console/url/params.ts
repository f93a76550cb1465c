/**
 * The state of a view, kept in the address, so that everyone who opens the address sees the same view. A parameter with its default
 * is left out.
 */
import { useLocation } from 'preact-iso/router';

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
