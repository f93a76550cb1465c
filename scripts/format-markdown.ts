/**
 * Formats every Markdown page: oxfmt wraps the prose, and tables lose the spaces that pad their columns, which were half
 * of the pages' bytes. With `--check` it writes nothing, and fails when a page differs.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { format, type FormatConfig } from 'oxfmt';

const options = JSON.parse(readFileSync('.oxfmtrc.json', 'utf8')) as FormatConfig;
const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--deduplicate', '*.md'], {
  encoding: 'utf8',
})
  .trim()
  .split('\n');

for (const page of pages) {
  const text = readFileSync(page, 'utf8');
  const wanted = withoutPadding((await format(page, text, options)).code);
  if (wanted === text) continue;
  if (!process.argv.includes('--check')) writeFileSync(page, wanted);
  else {
    console.error(`${page} is not formatted. Run: npm run fix`);
    process.exitCode = 1;
  }
}

function withoutPadding(text: string): string {
  let inCode = false;
  return text
    .split('\n')
    .map((line) => {
      if (/^ *(```|~~~)/.test(line)) inCode = !inCode;
      return inCode || !/^ *\|.*\|$/.test(line) ? line : withoutPaddingOfRow(line);
    })
    .join('\n');
}

function withoutPaddingOfRow(row: string): string {
  const indent = /^ */.exec(row)![0];
  const cells = row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replace(/^(:?)-+(:?)$/, '$1---$2'));
  return `${indent}| ${cells.join(' | ')} |`;
}
