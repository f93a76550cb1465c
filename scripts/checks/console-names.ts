/**
 * Pages of the documentation name the console's pages as its navigation does: `**Team and keys › API keys**`, or
 * `**Bots**` where entry and page have one name. Who follows a step must find that name on the screen.
 */
import { globSync, readFileSync } from 'node:fs';
import { groups } from '../../src/console/frame/console-pages.ts';
import type { Page } from './page-references.ts';

const entries = groups.flatMap((group) => group.entries);
const addresses = entries.flatMap(({ pages }) => pages.map(({ path }) => path));
/** From the name of a page to the way there. */
const ways = new Map(
  entries.flatMap(({ text, pages }) =>
    pages.map((page) => [page.text, page.text === text ? text : `${text} › ${page.text}`] as const),
  ),
);
const known = new Set([...ways.values(), ...entries.map(({ text }) => text)]);
const CONSOLE_PAGE = 'docs/console.md';

export async function checkConsoleNames(): Promise<string[]> {
  // The changelog may say what a page was called.
  const pages = globSync('{.,docs,docs/how-to,packages/*}/*.md', { exclude: ['CHANGELOG.md'] }).map((path) => ({
    path,
    text: readFileSync(path, 'utf8'),
  }));
  return [...pages.flatMap(unknownNames), ...pages.filter(({ path }) => path === CONSOLE_PAGE).flatMap(missingViews)];
}

/**
 * Page names in bold that the console does not have. Bold text is taken for a page name where it has an arrow, where it follows
 * a word such as "under" or "open", and where it names a page without its entry. At the start of a list item it is the
 * item's topic, and is skipped.
 */
export function unknownNames({ path, text }: Page): string[] {
  const bold = text.replaceAll(/\s+/g, ' ').matchAll(/(- |\b(?:[Uu]nder|[Oo]pen|this is|console,) )?\*\*([^*]+)\*\*/g);
  return [...bold].flatMap(([, before, name = '']) => {
    const way = ways.get(name) ?? name;
    if (before === '- ' || known.has(name)) return [];
    if (way !== name) return [`${path}: write **${way}** for **${name}**`];
    return before !== undefined || name.includes(' › ') ? [`${path}: the console has no page **${name}**`] : [];
  });
}

/** Each page of the console has a row with its name and its address, and no row has an address that leads nowhere. */
export function missingViews({ path, text }: Page): string[] {
  const rows = text.split('\n').filter((line) => /^\|[^|]+\| `\/console/.test(line));
  const missing = [...ways.keys()].filter((name) => !rows.some((row) => row.split(' | ')[0]?.includes(name)));
  const places = [...text.matchAll(/`(\/console(?:\/[a-z-]+)?)[/`]/g)].map(([, address = '']) => address);
  const gone = places.filter((address) => address !== '/console/auth' && !addresses.includes(address));
  return [
    ...missing.map((name) => `${path}: no row for the view ${name}`),
    ...gone.map((address) => `${path}: the console has no page ${address}`),
  ];
}
