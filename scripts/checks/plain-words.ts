/** Comments, documents and messages use everyday words: the check refuses a short list of archaic ones. */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const refused: readonly [RegExp, string][] = [
  [
    /\b(?:lest|who(?:so)?ever|thereof|therein|hitherto|whence|betwixt|forthwith|nought|besides|mend(?:s|ed|ing)?)\b/i,
    'is archaic; use an everyday word',
  ],
  [
    /\bthat there (?:is|are) not\b|\b(?:is|are|be) to be had\b|\bat the stroke of\b|\bfor ever\b/i,
    'is a literary turn',
  ],
];

/** Files that the check cannot read as English: generated, recorded, or in another language. */
const exempt =
  /^scripts\/checks\/plain-words\.ts$|\.generated\.ts$|\.d\.ts$|^test\/fixtures\/|^src\/locales\/(?!en\.)[a-z-]+\.json$/;

const texts = [
  '{src,test,bench,lab,scripts}/**/*.{ts,tsx,md,json,sql,html,css}',
  'packages/*/{README.md,package.json,src/**/*}',
  'docs/**/*.{md,json,svg,mjs,py,php,go,sh}',
  'docs/.vitepress/**/*.{ts,css}',
  '*.{md,toml,ts,json}',
  '{.github,.ci}/**/*',
  '.dev.vars.example',
  '.{editorconfig,gitignore,oxfmtrc.json,oxlintrc.json}',
];

export async function checkPlainWords(): Promise<string[]> {
  return globSync(texts, { withFileTypes: true, exclude: ({ name }) => name === 'node_modules' })
    .filter((entry) => entry.isFile() && entry.name !== 'package-lock.json')
    .map((entry) => relative('.', join(entry.parentPath, entry.name)))
    .filter((path) => !exempt.test(path))
    .flatMap((path) => findingsIn(path, readFileSync(path, 'utf8').split('\n')));
}

/** A phrase may run on to the next line, whose comment marker is left out. */
function findingsIn(path: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    const withNext = `${line} ${(lines[at + 1] ?? '').replace(/^\s*(?:\*|\/\/|#|>)?\s*/, '')}`;
    return refused.flatMap(([pattern, why]) => {
      const found = pattern.exec(withNext);
      return found === null || found.index >= line.length ? [] : [`${path}:${at + 1} "${found[0]}" ${why}`];
    });
  });
}
