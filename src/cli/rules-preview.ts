/** `gatehouse rules preview FILE`: what an import would change, and what the logged requests would have got then. */
import { readFileSync, statSync } from 'node:fs';
import { CommandError } from './command-line.ts';
import { command } from './command.ts';
import { expiryOf } from './import-rules.ts';
import { call, targetFlags } from './management-call.ts';
import { type Change, changeLines, type Reach, reachLine, reachNotes, type Sample } from './print/preview.ts';
import type { Screen } from './print/screen.ts';
import { table } from './print/table.ts';
import { printable } from './printable.ts';
import { windowOf } from './time-flag.ts';

/** The service reads no more at once. */
const FILE_MAX_BYTES = 15_000_000;
const EFFECTS_SHOWN = 20;
const REFUSED_SHOWN = 10;

interface Preview extends Reach {
  changed: number;
  changedAddresses: number;
  changes: Change[];
  samples: Sample[];
  plan: { added: number; changed: number; unchanged: number; removed: number; refused: number };
  refusedLines: { line: number; reason: string }[];
  rulesTouched: number;
  effects: { rule: string; change: string; requests: number; visitors: number }[];
}

export const rulesPreview = command({
  about:
    'Says what an import of FILE would change, and what the requests of the last day, or since TIME, would have got then. Nothing is changed. FILE may be - for standard input.',
  example: 'rules preview networks.csv --verdict block --since 1h',
  on: 'service',
  positionals: ['FILE'],
  optional: {
    format: 'csv|ndjson|list',
    verdict: 'allow|challenge|block',
    mode: 'enforce|monitor',
    expiry: 'DATE|30d',
    since: 'TIME',
    until: 'TIME',
    ...targetFlags,
  },
  run({ positionals: [path = ''], values, target }) {
    const { format, verdict, mode, expiry } = values;
    const body = {
      content: contentOf(path),
      format,
      verdict,
      mode,
      expiry: expiry === undefined ? undefined : expiryOf(expiry),
      ...windowOf(values),
    };
    return call(target(), '/protect/access-rules/preview', body) as Promise<Preview>;
  },
  print: previewLines,
});

function contentOf(path: string): string {
  const tooLarge = () =>
    new CommandError(`${path} has more than ${FILE_MAX_BYTES} bytes. Try a part of it, or rules import --dry-run.`);
  try {
    if (path !== '-' && statSync(path).size > FILE_MAX_BYTES) throw tooLarge();
    const bytes = readFileSync(path === '-' ? 0 : path);
    if (bytes.length > FILE_MAX_BYTES) throw tooLarge();
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const what = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${path} cannot be read. Check the path. ${what}`);
  }
}

function previewLines(preview: Preview, screen: Screen): string[] {
  const { plan, changed, changedAddresses, refusedLines, effects, rulesTouched } = preview;
  const shownEffects = effects.slice(0, EFFECTS_SHOWN);
  const refused = refusedLines
    .slice(0, REFUSED_SHOWN)
    .map(({ line, reason }) => printable(`  line ${line}: ${reason}`));
  return [
    `The file adds ${plan.added} rules, changes ${plan.changed} and repeats ${plan.unchanged}. ${plan.refused} lines are no rules.`,
    ...refused,
    ...(refusedLines.length > refused.length ? [`  and ${refusedLines.length - refused.length} more`] : []),
    reachLine(preview, `${changed} would be decided otherwise, of ${changedAddresses} addresses.`),
    ...changeLines(preview.changes, preview.samples, screen),
    ...(effects.length === 0
      ? []
      : [
          '',
          `Of the rules, ${rulesTouched} match requests:`,
          ...table(
            [
              { title: 'RULE', cell: ({ rule }) => rule },
              { title: 'CHANGE', cell: ({ change }) => change, isExtra: true },
              { title: 'REQUESTS', cell: ({ requests }) => requests },
              { title: 'VISITORS', cell: ({ visitors }) => visitors },
            ],
            shownEffects,
            screen,
          ),
        ]),
    ...reachNotes(preview),
  ];
}
