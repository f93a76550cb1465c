/**
 * What pages and comments refer to: linked files and sections, and quoted test titles
 * (`` `e2e/edge-gate` › "words of the title" ``). A renamed test must not leave a claim without its proof.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sourceFiles } from './source-files.ts';

export interface Page {
  path: string;
  text: string;
}
/** Returns the text of a file, an empty text for a folder, and `undefined` for what does not exist. */
export type ReadText = (path: string) => string | undefined;

/** The test of this check refers to nothing on purpose. */
const OWN_TEST = 'test/unit/checks/page-references.test.ts';

export async function checkPageReferences(): Promise<string[]> {
  const readText = rememberedFiles();
  const read = (path: string): Page => ({ path, text: readText(path) ?? '' });
  const pages = globSync('{.,docs,docs/how-to,docs/decisions}/*.md').map((path) => read(join(path)));
  return [
    ...pages.flatMap((page) => [...brokenLinks(page, readText), ...unknownTitles(page, readText)]),
    ...sourceFiles()
      .filter((path) => path !== OWN_TEST)
      .flatMap((path) => brokenMentions(read(path), readText)),
    ...pagesWithoutLink(pages),
  ];
}

function rememberedFiles(): ReadText {
  const texts = new Map<string, string | undefined>();
  return (path) => {
    if (!texts.has(path)) {
      const entry = statSync(path, { throwIfNoEntry: false });
      texts.set(path, entry?.isFile() ? readFileSync(path, 'utf8') : entry && '');
    }
    return texts.get(path);
  };
}

export function brokenLinks(page: Page, readText: ReadText): string[] {
  return targetsOf(page).flatMap((target) => missing(page.path, target, readText));
}

/** Files and sections that the links of a page name, without those of other sites. */
function targetsOf({ path, text }: Page): string[] {
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]+)?\)/g)].map(
    ([, file = '', anchor = '']) => `${file === '' ? path : join(dirname(path), file)}${anchor}`,
  );
}

/** Pages that comments name, with or without a section. */
export function brokenMentions({ path, text }: Page, readText: ReadText): string[] {
  return [...text.matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].flatMap(([target]) => missing(path, target, readText));
}

function missing(from: string, target: string, readText: ReadText): string[] {
  const [path = '', anchor] = target.split('#');
  const text = readText(path);
  if (text === undefined) return [`${from}: ${path} does not exist`];
  return anchor === undefined || anchorsOf(text).includes(anchor) ? [] : [`${from}: ${path} has no section #${anchor}`];
}

/** Anchors of a page's headings, as the hosting platform makes them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A page quotes one file, then one or several titles. An ellipsis stands for the part of a title that a table fills in. */
export function unknownTitles({ path, text }: Page, readText: ReadText): string[] {
  // Prose is wrapped: a title may run on to the next line.
  const quotes = text
    .replaceAll(/\s+/g, ' ')
    .matchAll(/`((?:unit|property|workerd|e2e|browser|compat|attacks)\/[\w/-]+)`(?: ›|:) ((?:"[^"]+"(?:, )?)+)/g);
  return [...quotes].flatMap(([, file = '', titles = '']) => {
    const source = readText(`test/${file}.test.ts`)?.replaceAll("\\'", "'");
    if (source === undefined) return [`${path}: test/${file}.test.ts does not exist`];
    return [...titles.matchAll(/"…?:? ?([^"]+?)…?"/g)].flatMap(([, title = '']) =>
      source.includes(title) ? [] : [`${path}: test/${file}.test.ts has no test "${title}"`],
    );
  });
}

/** Every page of docs/ is linked from another page. A folder that is linked as a whole shows its README. */
export function pagesWithoutLink(pages: readonly Page[]): string[] {
  const linked = new Set(
    pages.flatMap((page) =>
      targetsOf(page)
        .filter((target) => !target.startsWith(page.path))
        .map((target) => target.replace(/#.*/, '')),
    ),
  );
  return pages
    .map(({ path }) => path)
    .filter((path) => path.startsWith('docs/') && !path.endsWith('README.md') && !linked.has(path))
    .map((path) => `${path} is not linked from another page`);
}
