import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { headingAnchor } from '../../../docs/.vitepress/markdown/heading-anchor.ts';
import { allDocs, docsOf, placeOf } from '../../../src/console/frame/console-pages.ts';

test('every link of the console to the documentation leads to a page and a heading of it', () => {
  const broken = allDocs.filter((link) => {
    const [page = '', anchor] = link.split('#');
    const path = `docs/${page}.md`;
    if (!existsSync(path)) return true;
    const headings = [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      headingAnchor(text),
    );
    return anchor !== undefined && !headings.includes(anchor);
  });
  expect(broken).toEqual([]);
});

test('a part of a page belongs to its page, and has the documentation of the part', () => {
  expect(placeOf('/console/rules/import')?.page.text).toBe('Rules');
  expect(docsOf('/console/rules/import')).toBe('/docs/access-rules#files');
  expect(docsOf('/console/rules')).toBe('/docs/access-rules');
  expect(docsOf('/console/no-such-page')).toBe('/docs/console');
});
