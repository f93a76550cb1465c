/** How many things a list has, and the ways to its other pages. Which page it is stands in the address. */
import { useLocation } from 'preact-iso/router';
import { count } from '../format/numbers.ts';
import { addressOf, type Params } from '../url/params.ts';
import { ButtonLink } from './button.tsx';

export interface NumberedPagesProps {
  page: number;
  pages: number;
  /** Such as "17 rules". */
  total: string;
}

export function NumberedPages({ page, pages, total }: NumberedPagesProps) {
  const { path, query } = useLocation();
  const at = (next: number) => addressOf(path, { ...query, page: next === 1 ? null : String(next) });
  return (
    <nav class="actions pages" aria-label="Pages">
      <span class="soft">
        {total}
        {pages > 1 && `, page ${count(page)} of ${count(pages)}`}
      </span>
      {page > 1 && <ButtonLink href={at(Math.min(page - 1, Math.max(1, pages)))}>Previous</ButtonLink>}
      {page < pages && <ButtonLink href={at(page + 1)}>Next</ButtonLink>}
    </nav>
  );
}

/** The page of the address; 1 when it names none. */
export function pageOf(params: Params): number {
  const page = Number(params['page'] ?? 1);
  return Number.isSafeInteger(page) && page >= 1 ? page : 1;
}

export interface OlderPagesProps {
  /** Parameters that say where a page begins. Without them, it is the first page. */
  place?: readonly string[];
  /** Where the next page begins: its cursor, or its parameters. `null`: this is the last one. */
  next: string | Readonly<Record<string, string>> | null | undefined;
}

/** The ways to the other pages of a list, newest first. Where a page begins is in the address. */
export function OlderPages({ place = ['cursor'], next }: OlderPagesProps) {
  const { path, query } = useLocation();
  const first = Object.fromEntries(place.map((name) => [name, null]));
  const older = typeof next === 'string' ? { cursor: next } : next;
  return (
    <nav class="actions" aria-label="Pages">
      {place.some((name) => query[name] !== undefined) && (
        <ButtonLink href={addressOf(path, { ...query, ...first })}>Newest</ButtonLink>
      )}
      {older && <ButtonLink href={addressOf(path, { ...query, ...older })}>Older</ButtonLink>}
    </nav>
  );
}
