/** The ways to the other pages of a list, newest first. Where a page begins is in the address. */
import { addressOf } from '../url/params.ts';
import { ButtonLink } from './button.tsx';

export interface OlderPagesProps {
  path: string;
  params: Readonly<Record<string, string | null>>;
  /** Parameters that say where a page begins. Without them, it is the first page. */
  place: readonly string[];
  /** Where the next page begins. `null`: this is the last one. */
  next: Readonly<Record<string, string>> | null;
}

export function OlderPages({ path, params, place, next }: OlderPagesProps) {
  const first = Object.fromEntries(place.map((name) => [name, null]));
  return (
    <nav class="actions" aria-label="Pages">
      {place.some((name) => params[name] !== undefined) && (
        <ButtonLink href={addressOf(path, { ...params, ...first })}>Newest</ButtonLink>
      )}
      {next !== null && <ButtonLink href={addressOf(path, { ...params, ...next })}>Older</ButtonLink>}
    </nav>
  );
}
