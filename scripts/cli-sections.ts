/** One command as docs/cli.md has it. */
import type { Command } from '../src/cli/command.ts';
import { cutToWidth } from '../src/cli/print/screen.ts';
import { usageOf } from '../src/cli/command-line.ts';
import type { Ran } from '../test/support/gatehouse.ts';

export const START = '<!-- commands -->';
export const END = '<!-- end of the commands -->';

/** Of an output. A page shows what it looks like, not all of it. */
const LINES_SHOWN = 10;
const LINE_MAX = 140;

export function commandSection(name: string, entry: Command, ran: Ran | undefined): string {
  const { required, optional, switches = [], example } = entry;
  const flags = [
    ...Object.entries(required ?? {}).map(([flag, value]) => `\`--${flag} ${value}\` (required)`),
    ...Object.entries(optional ?? {}).map(([flag, value]) => `\`--${flag} ${value}\``),
    ...switches.map((flag) => `\`--${flag}\``),
  ];
  const repository = entry.needs === 'repository' ? ' Needs the repository.' : '';
  return [
    `### ${name}`,
    '',
    `\`${usageOf(name, { ...entry, required: {}, optional: {}, switches: [] })}\``,
    '',
    `${entry.about}${repository}`,
    '',
    ...(flags.length === 0 ? [] : [`Flags: ${flags.join(', ')}.`, '']),
    '```',
    `$ gatehouse ${example}`,
    ...shownLines(ran),
    '```',
    '',
  ].join('\n');
}

/** What a page shows of an output. */
export function shownLines(ran: Ran | undefined): string[] {
  if (ran === undefined) return [];
  const text = ran.output === '' || ran.exitCode === 1 ? ran.errors || ran.output : ran.output;
  const lines = text.split('\n').map((line) => cutToWidth(line.trimEnd(), LINE_MAX));
  return lines.length <= LINES_SHOWN ? lines : [...lines.slice(0, LINES_SHOWN), '…'];
}
