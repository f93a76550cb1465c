/** docs/cli.md has every command as the table of commands describes it. What examples print, a test compares. */
import { readFileSync } from 'node:fs';
import { commandTable } from '../../src/cli/command-table.ts';
import { commandSection, END, START } from '../cli-sections.ts';

export async function checkCliPage(): Promise<string[]> {
  const page = readFileSync('docs/cli.md', 'utf8').split(START)[1]?.split(END)[0] ?? '';
  const sections = new Map(page.split(/^(?=### )/m).map((section) => [/^### (.+)/.exec(section)?.[1] ?? '', section]));
  sections.delete('');
  const old = Object.entries(commandTable).filter(([name, entry]) => {
    const [head = '', example = ''] = (sections.get(name) ?? '').split('```');
    const written = commandSection(name, entry, undefined).split('```')[0] ?? '';
    return words(head) !== words(written) || !example.startsWith(`\n$ gatehouse ${entry.example}\n`);
  });
  const gone = [...sections.keys()].filter((name) => !Object.hasOwn(commandTable, name));
  const names = [...old.map(([name]) => name), ...gone];
  return names.length === 0 ? [] : [`docs/cli.md differs: ${names.join(', ')}. Run: node scripts/cli-docs.ts`];
}

/** The formatter wraps lines and escapes stars. */
function words(text: string): string {
  return text.replaceAll(/[\s\\]+/g, ' ').trim();
}
