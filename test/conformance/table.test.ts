/** The table in README.md names tests that exist: a renamed or removed test must not leave a clause uncovered. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const rows = readFileSync('test/conformance/README.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => {
    const [, clause = '', , reference = ''] = line.split('|').map((cell) => cell.trim());
    const [file = '', title = ''] = reference.split(' › ');
    return { clause, file, title };
  });

/** Sections of the interface document that demand something of the service. */
const sections = [
  '1',
  '2.1',
  '2.2',
  '2.3',
  '2.4',
  '2.5',
  '2.6',
  '2.7',
  '3',
  '4',
  '4.2',
  '4.3',
  '4.4',
  '4.5',
  '4.6',
  '4.7',
  '4.8',
  '5',
  '7',
  '8',
];

test.each(rows)('$clause is kept by $file › $title', ({ file, title }) => {
  expect(existsSync(file)).toBe(true);
  expect(title).not.toBe('');
  // Quotes of either kind: a title with an apostrophe is written in double ones.
  expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(title);
});

test.each(sections)('section %s has a row', (section) => {
  expect(rows.some(({ clause }) => clause === section || clause.startsWith(`${section}.`))).toBe(true);
});
