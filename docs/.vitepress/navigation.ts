/**
 * The sidebar: tutorial, how-to, reference, explanation, decisions. Pages are listed here in the order of reading. A page
 * that no list names is shown under "Reference", so that every page can be reached.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Group {
  text: string;
  items: { text: string; link: string; target?: string }[];
}

const TUTORIAL = ['tutorial', 'transcript', 'first-day'];
const HOW_TO = ['troubleshooting', 'container', 'operations', 'origin-lockdown', 'query-the-log'];
const REFERENCE =
  'console cli configuration-file policies access-rules limits lists bots attack-mode alerts verification widget compatibility instance-settings site-settings edge-configuration service-configuration management-api api-fields verdict-log ip-categories languages storage-schema glossary'.split(
    ' ',
  );
const EXPLANATION = [
  'how-it-works',
  'architecture',
  'risk',
  'failure-modes',
  'threat-model',
  'privacy',
  'comparisons',
  'edge-checklist',
];

/** By the beginning of a page's path. The decisions have a list of their own, because they are many. */
export function sidebar(docs: string): Record<string, Group[]> {
  const pagesIn = (folder: string) =>
    existsSync(join(docs, folder))
      ? readdirSync(join(docs, folder))
          .filter((name) => name.endsWith('.md') && name !== 'README.md')
          .map((name) => join(folder, name.replace(/\.md$/, '')))
          .toSorted()
      : [];
  const placed = new Set([...TUTORIAL, ...HOW_TO, ...REFERENCE, ...EXPLANATION, 'index']);
  const unplaced = pagesIn('.').filter((page) => !placed.has(page));
  const items = (pages: readonly string[]) =>
    pages
      .filter((page) => existsSync(join(docs, `${page}.md`)))
      .map((page) => ({ text: titleOf(join(docs, `${page}.md`)), link: `/${page}` }));
  const main = [
    { text: 'Tutorial', items: items(TUTORIAL) },
    { text: 'How-to', items: items([...pagesIn('how-to'), ...HOW_TO]) },
    {
      text: 'Reference',
      items: [{ text: 'API', link: '/api', target: '_self' }, ...items([...REFERENCE, ...unplaced])],
    },
    { text: 'Explanation', items: items(EXPLANATION) },
    { text: 'Decisions', items: [{ text: 'All decisions', link: '/decisions/' }] },
  ];
  const decisions = [{ text: 'All decisions', link: '/decisions/' }, ...items(pagesIn('decisions'))];
  return {
    '/': main,
    '/decisions/': [{ text: 'Decisions', items: [{ text: 'Documentation', link: '/' }, ...decisions] }],
  };
}

function titleOf(path: string): string {
  const title = /^# (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1];
  if (title === undefined) throw new Error(`${path} has no title. Begin the page with a line "# Title".`);
  return title.replaceAll('`', '');
}
