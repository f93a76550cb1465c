/**
 * Comments, documents and messages must stand on their own: they name standards and pages of this repository, never a
 * paper that a reader cannot open. The check also refuses a short list of archaic words. Run alone, it prints every
 * finding, or those of the given paths: `node scripts/checks/own-words.ts src/store docs`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const refused: readonly [RegExp, string][] = [
  [/\bdesign(?:['’]s)? (?:document|paper|section )?\d/i, 'cites a design paper'],
  [
    /\binterface document\b(?! \{)|\binterface,? (?:section |clause )?\d|\bthe document['’]s\b/i,
    'cites an interface paper',
  ],
  [
    /\b(?:DESIGN|DESIGN-2|STYLE|interface|captcha-peers|prosopo)\.md\b|\bcaptcha[ -]peers|\bprosopo\b/i,
    'cites a paper',
  ],
  [/\(reference,|\breference, [a-z]+ \d/i, 'cites a reference paper'],
  [/\bissues? #?\d|\bhabits? \d/i, 'cites a list kept elsewhere'],
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
  /^scripts\/checks\/own-words\.ts$|\.generated\.ts$|\.d\.ts$|^test\/fixtures\/|^src\/locales\/(?!en\.)[a-z-]+\.json$/;

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

interface Finding {
  path: string;
  text: string;
}

function findings(): Finding[] {
  return globSync(texts, { withFileTypes: true, exclude: ({ name }) => name === 'node_modules' })
    .filter((entry) => entry.isFile() && entry.name !== 'package-lock.json')
    .map((entry) => relative('.', join(entry.parentPath, entry.name)))
    .filter((path) => !exempt.test(path))
    .flatMap((path) => findingsIn(path, readFileSync(path, 'utf8').split('\n')));
}

/** A phrase may run on to the next line, whose comment marker is left out. */
function findingsIn(path: string, lines: readonly string[]): Finding[] {
  return lines.flatMap((line, at) => {
    const withNext = `${line} ${(lines[at + 1] ?? '').replace(/^\s*(?:\*|\/\/|#|>)?\s*/, '')}`;
    return refused.flatMap(([pattern, why]) => {
      const found = pattern.exec(withNext);
      return found === null || found.index >= line.length
        ? []
        : [{ path, text: `${path}:${at + 1} "${found[0]}" ${why}` }];
    });
  });
}

export async function checkOwnWords(): Promise<string[]> {
  return findings().map(({ text }) => text);
}

if (import.meta.main) {
  const areas = process.argv.slice(2);
  const found = findings().filter(({ path }) => areas.length === 0 || areas.some((area) => path.startsWith(area)));
  console.log(found.map(({ text }) => text).join('\n'));
  console.log(`${found.length} found`);
}
