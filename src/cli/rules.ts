/**
 * `gatehouse rules …`: access rules over the management API, of a local stack or a deployed service. A preview says what
 * an import would change, and what the logged requests would have got then.
 */
import { createWriteStream, readFileSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { edgeRuleTypes } from '../contract/vocabulary.ts';
import { detectedType } from '../contract/management/rule-file/rule-file.ts';
import { CommandError } from './command-line.ts';
import { instanceCommand, type Commands, type Given } from './command.ts';
import { expiryOf, typedNumber, windowFields } from './flag-values.ts';
import { importRules } from './import-rules.ts';
import { CallError, callService, post, type ResponseAt, type ServiceTarget } from './management-call.ts';
import { changeLines, reachLine, reachNotes } from './print/preview.ts';
import { printable } from './print/printable.ts';
import type { Screen } from './print/screen.ts';
import { table } from './print/table.ts';
import { shellWord, takeBackLines } from './print/printed-command.ts';

const RULES = '/protect/access-rules';
const LINE_FEED = 10;
const formatFlag = { format: 'csv|ndjson|list' };
const verdictFlag = { verdict: 'allow|challenge|block' };

/** The service reads no more at once. */
const FILE_MAX_BYTES = 15_000_000;
const EFFECTS_SHOWN = 20;
const REFUSED_SHOWN = 10;

type Preview = ResponseAt<'/protect/access-rules/preview'>;

export const rulesPreview = instanceCommand({
  about:
    'Says what an import of FILE would change, and what the requests of the last day, or since TIME, would have got then. Nothing is changed. FILE may be - for standard input.',
  example: 'rules preview networks.csv --verdict block --since 1h',
  positionals: ['FILE'],
  optional: {
    ...formatFlag,
    ...verdictFlag,
    mode: 'enforce|monitor',
    expiry: 'DATE|30d',
    since: 'TIME',
    until: 'TIME',
  },
  run({ positionals: [path = ''], values, target }) {
    const { format, verdict, mode, expiry } = values;
    const body = {
      content: contentOf(path),
      format,
      verdict,
      mode,
      expiry: expiry === undefined ? undefined : expiryOf(expiry),
      ...windowFields(values),
    };
    return callService(target(), '/protect/access-rules/preview', body);
  },
  print: previewLines,
});

export const ruleCommands: Commands = {
  'rules add': instanceCommand({
    about:
      'Adds a rule for one value, or replaces the rule that it has. Without TYPE, the value says what it is, as in a list that is imported.',
    example: 'rules add 192.0.2.7 --verdict allow --expiry 1d',
    positionals: ['[TYPE]', 'VALUE'],
    required: verdictFlag,
    optional: { mode: 'enforce|monitor', expiry: 'DATE|30d', note: 'TEXT' },
    choices: { '[TYPE]': edgeRuleTypes },
    run: async (given) => {
      const { verdict, mode, expiry, note } = given.values;
      const rule = {
        ...valueOf(given),
        verdict,
        mode,
        note,
        expiry: expiry === undefined ? undefined : expiryOf(expiry),
      };
      const { rules, created, updated, version } = await callService(given.target(), `${RULES}/create`, {
        rules: [rule],
      });
      const change = created > 0 ? 'added' : updated > 0 ? 'changed' : 'unchanged';
      const way = created > 0 ? `rules remove ${ruleWords(rules[0] ?? rule)}` : `rules rollback ${version - 1}`;
      return { rule: rules[0], change, version, ...(change === 'unchanged' ? {} : { takeBack: given.typed(way) }) };
    },
    print: ({ rule, change, ...result }) => [
      change === 'unchanged' ? 'There is such a rule already.' : `${ruleLine(rule)} is ${change}.`,
      ...takeBackLines(result),
    ],
  }),
  'rules list': instanceCommand({
    about:
      'Lists the first rules, 50 unless --limit says otherwise, or those of one type or verdict, or whose value begins with a text.',
    example: 'rules list --type ip --prefix 192.0.2.',
    optional: { type: 'TYPE', prefix: 'TEXT', ...verdictFlag, limit: 'N' },
    choices: { type: edgeRuleTypes },
    run: ({ values: { type, prefix, verdict, limit = '50' }, target }) =>
      callService(target(), RULES, { type, valuePrefix: prefix, verdict, limit: typedNumber('--limit', limit) }),
    print: ({ rules, total }, screen) => [
      ...table(
        [
          { title: 'TYPE', cell: ({ type }) => type },
          { title: 'VALUE', cell: ({ value }) => value, isWhole: true },
          { title: 'VERDICT', cell: ({ verdict }) => verdict },
          { title: 'MODE', cell: ({ mode }) => mode },
          { title: 'UNTIL', cell: ({ expiry }) => expiry ?? '' },
          { title: 'NOTE', cell: ({ note }) => note ?? '', isExtra: true },
        ],
        rules,
        screen,
      ),
      `${rules.length} of ${total} rules.`,
    ],
  }),
  'rules remove': instanceCommand({
    about: 'Removes the rule of one value.',
    example: 'rules remove 192.0.2.7',
    positionals: ['[TYPE]', 'VALUE'],
    choices: { '[TYPE]': edgeRuleTypes },
    run: async (given) => {
      const condition = valueOf(given);
      const { deleted, version } = await callService(given.target(), `${RULES}/delete`, { conditions: [condition] });
      if (deleted === 0) throw new CallError(`There is no rule for ${condition.type} ${condition.value}.`);
      return { removed: condition, version, takeBack: given.typed(`rules rollback ${version - 1}`) };
    },
    print: ({ removed, ...result }) => [
      printable(`The rule for ${removed.type} ${removed.value} is removed.`),
      ...takeBackLines(result),
    ],
  }),
  'rules import': instanceCommand({
    about:
      'Creates or updates a rule for each line. FILE may be - for standard input. --verdict, --mode, --expiry and --note are for lines without one. --dry-run changes nothing.',
    example: 'rules import blocklist.csv --verdict block',
    positionals: ['FILE'],
    optional: {
      ...formatFlag,
      ...verdictFlag,
      mode: 'enforce|monitor',
      expiry: 'DATE|30d',
      note: 'TEXT',
    },
    switches: ['dry-run'],
    run: importRules,
  }),
  'rules preview': rulesPreview,
  'rules export': instanceCommand({
    about: 'Writes every rule, or those with one verdict, to standard output or to a file.',
    example: 'rules export --format csv --out rules.csv',
    isDocument: true,
    optional: { ...formatFlag, ...verdictFlag, out: 'FILE' },
    run: exported,
    print: ({ out }) => [`The rules are in ${out}.`],
  }),
  'rules history': instanceCommand({
    about: 'Lists the last versions of the rules, 50 unless --limit says otherwise.',
    example: 'rules history --limit 10',
    optional: { limit: 'N' },
    run: (given) => {
      const limit = typedNumber('--limit', given.values['limit'] ?? '50');
      return callService(given.target(), `${RULES}/history`, { limit });
    },
  }),
  'rules rollback': instanceCommand({
    about: 'Makes the rules what they were at a version of the history.',
    example: 'rules rollback VERSION',
    positionals: ['VERSION'],
    run: (given) => {
      const version = typedNumber('VERSION', given.positionals[0] ?? '');
      return callService(given.target(), `${RULES}/rollback`, { version });
    },
  }),
};

/** @throws CommandError where the type is left out and nobody can tell it. */
function valueOf({ positionals: [first = '', second] }: Given): { type: string; value: string } {
  if (second !== undefined) return { type: first, value: second };
  const type = detectedType(first);
  if (type.ok) return { type: type.value, value: first };
  throw new CommandError(`${first} ${type.error}. Or name its type before it, such as userAgent.`);
}

function ruleWords({ type, value }: { type: string; value: string }): string {
  return `${type} ${shellWord(value)}`;
}

function ruleLine(rule: ResponseAt<'/protect/access-rules/create'>['rules'][number] | undefined): string {
  if (rule === undefined) return 'The rule';
  const { type, value, verdict, mode, expiry } = rule;
  const until = expiry === null ? '' : `, until ${expiry}`;
  return printable(`The rule for ${type} ${value} (${verdict}${mode === 'monitor' ? ', monitored' : ''}${until})`);
}

async function exported(given: Given): Promise<{ out: string } | undefined> {
  const { format: wanted, verdict: only, out } = given.values;
  const target = given.target();
  const progress = given.progress('rules export');
  const total = progress.isShown ? await countOf(target, only) : null;
  const response = await post(target, `${RULES}/export`, { format: wanted, verdict: only });
  if (!response.body) throw new CallError('The service sent an empty response. Try again.');
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  const counted = countedLines(body, (lines) => progress.at(lines, total, `${lines} of ${total ?? 'all'} rules`));
  try {
    if (out === undefined) for await (const chunk of counted) await given.write(chunk);
    else await writeWhole(out, counted);
  } finally {
    progress.end();
  }
  return out === undefined ? undefined : { out };
}

async function countOf(target: ServiceTarget, only: string | undefined): Promise<number> {
  return (await callService(target, RULES, { limit: 1, verdict: only })).total;
}

/** A rule is a line of the file, except in notes with line breaks. */
async function* countedLines(body: AsyncIterable<unknown>, seen: (lines: number) => void): AsyncGenerator<Uint8Array> {
  let lines = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    for (const byte of chunk) if (byte === LINE_FEED) lines += 1;
    seen(lines);
    yield chunk;
  }
}

/** A failure in the middle leaves no part of the file under its name. */
async function writeWhole(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await pipeline(body, createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    const what = error instanceof Error ? error.message : String(error);
    throw new CallError(`${path} cannot be written as a whole. Check the folder and the connection. ${what}`);
  }
}

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
  const { plan, changed, changedAddresses, untold, refusedLines, effects, rulesTouched } = preview;
  const shownEffects = effects.slice(0, EFFECTS_SHOWN);
  const refused = refusedLines
    .slice(0, REFUSED_SHOWN)
    .map(({ line, reason }) => printable(`  line ${line}: ${reason}`));
  return [
    `The file adds ${plan.added} rules, changes ${plan.changed} and repeats ${plan.unchanged}. ${plan.refused} lines are no rules.`,
    ...refused,
    ...(refusedLines.length > refused.length ? [`  and ${refusedLines.length - refused.length} more`] : []),
    reachLine(preview, `${changed} would be decided otherwise, of ${changedAddresses} addresses.`),
    ...(untold === 0 ? [] : [`Of ${untold} the log does not keep what the policies ask for.`]),
    ...changeLines(preview, screen),
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
