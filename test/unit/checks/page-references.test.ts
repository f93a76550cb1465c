/** The check of pages finds a link, a mention or a quote that leads nowhere. */
import { describe, expect, test } from 'vitest';
import {
  brokenLinks,
  brokenMentions,
  type Page,
  pagesWithoutLink,
  unknownTitles,
} from '../../../scripts/checks/page-references.ts';

const files: Readonly<Record<string, string>> = {
  'docs/limits.md': '# Limits\n\n## `fast` and exact',
  'docs/how-to': '',
  'test/unit/a/b.test.ts': "test('keeps the site\\'s word', f);\ntest.each(rows)('%s is refused', f);",
};
const readText = (path: string): string | undefined => files[path];
const page = (text: string, path = 'docs/page.md'): Page => ({ path, text });

describe('a page may link', () => {
  test('files, folders, sections and other sites that exist', () => {
    const text = '# Own\n[a](limits.md) [b](limits.md#fast-and-exact) [c](how-to) [d](https://example.com/x.md#y)';
    expect(brokenLinks(page(text), readText)).toEqual([]);
    expect(brokenLinks(page('[a](#fast-and-exact)', 'docs/limits.md'), readText)).toEqual([]);
  });

  test('no file and no section that does not exist', () => {
    const text = '[a](gone.md) [b](limits.md#slow) ![c](../gone.svg)';
    expect(brokenLinks(page(text), readText)).toEqual([
      'docs/page.md: docs/gone.md does not exist',
      'docs/page.md: docs/limits.md has no section #slow',
      'docs/page.md: gone.svg does not exist',
    ]);
  });
});

test('a comment may mention only pages and sections that exist', () => {
  const source = page('// See docs/limits.md#fast-and-exact, docs/limits.md#slow and docs/gone.md.', 'src/a.ts');
  expect(brokenMentions(source, readText)).toEqual([
    'src/a.ts: docs/limits.md has no section #slow',
    'src/a.ts: docs/gone.md does not exist',
  ]);
});

test('a page may quote only titles of the file that it names', () => {
  const known = '`unit/a/b` › "keeps the\nsite\'s word", "… is refused"';
  expect(unknownTitles(page(known), readText)).toEqual([]);
  const unknown = '`unit/a/b` › "is refused", "is\naccepted" and `unit/c`: "is refused"';
  expect(unknownTitles(page(unknown), readText)).toEqual([
    'docs/page.md: test/unit/a/b.test.ts has no test "is accepted"',
    'docs/page.md: test/unit/c.test.ts does not exist',
  ]);
});

test('a page of docs/ that only it links itself is reported, and the README of a folder is not', () => {
  const pages = [
    page('[docs](docs/a.md)', 'README.md'),
    page('[b](#b)', 'docs/b.md'),
    page('', 'docs/a.md'),
    page('', 'docs/decisions/README.md'),
  ];
  expect(pagesWithoutLink(pages)).toEqual(['docs/b.md is not linked from another page']);
});
