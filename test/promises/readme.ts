/** The promises of the README and the examples that it prints, read from the file itself. */
import { readFileSync } from 'node:fs';

const readme = readFileSync('README.md', 'utf8');

/** The text from a heading of the second level up to the next one. */
function section(heading: string): string {
  const start = readme.indexOf(`\n## ${heading}\n`);
  if (start < 0) throw new Error(`README.md has no section "${heading}"`);
  const end = readme.indexOf('\n## ', start + 1);
  return readme.slice(start, end < 0 ? undefined : end);
}

/** The examples of a section in one language, in the order of the page. */
export function examplesOf(heading: string, language: string): string[] {
  const fences = section(heading).matchAll(/^```(\w*)\n(.*?)^```$/gms);
  return [...fences].filter(([, name]) => name === language).map(([, , code = '']) => code);
}

const claims = [...section('What it does').matchAll(/^- \*\*(.+?)\.\*\*/gm)].map(([, claim = '']) => claim);

/** Every promise, in the order of the README. Both test files of this folder have one test for each. */
export const promises = ['Quick start', ...claims, 'Rules in 60 seconds', 'Verifying in a backend'];
