/**
 * The sidebar is the list of pages of `docs/index.md`: a group for each heading, and a link for each item in its order.
 * The decisions have a list of their own, because they are many.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Group {
  text: string;
  items: { text: string; link: string }[];
}

/** By the beginning of a page's path. */
export function sidebar(docs: string): Record<string, Group[]> {
  const read = (page: string): string => readFileSync(join(docs, page), 'utf8');
  const [, ...parts] = read('index.md').split(/^## /m);
  const main = parts.map((part) => ({
    text: part.slice(0, part.indexOf('\n')),
    items: [...part.matchAll(/^- \[([^\]]+)\]\(([^)]+)\.md\)/gm)].map(([, text = '', page = '']) => ({
      text,
      link: `/${page.replace(/README$/, '')}`,
    })),
  }));
  const decisions = readdirSync(join(docs, 'decisions'))
    .filter((name) => name !== 'README.md')
    .toSorted()
    .map((name) => ({
      text: titleOf(read(`decisions/${name}`)),
      link: `/decisions/${name.replace(/\.md$/, '')}`,
    }));
  return {
    '/': main,
    '/decisions/': [
      {
        text: 'Decisions',
        items: [{ text: 'Documentation', link: '/' }, { text: 'All decisions', link: '/decisions/' }, ...decisions],
      },
    ],
  };
}

function titleOf(page: string): string {
  return (/^# (.+)$/m.exec(page)?.[1] ?? '').replaceAll('`', '');
}
