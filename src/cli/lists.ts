/**
 * `gatehouse lists …`: blocklists that refresh themselves, and files that are replaced as a whole, over the management
 * API, of a local stack or a deployed service.
 */
import type { ListStatus } from '../contract/management/lists.ts';
import { CommandError } from './command-line.ts';
import { instanceCommand, type Commands, type Given } from './command.ts';
import { contentOf, isOn, typedNumber } from './flag-values.ts';
import { CallError, callService, type ResponseAt, type ServiceTarget } from './management-call.ts';
import { changeLines, reachLine } from './print/preview.ts';
import { printable } from './print/printable.ts';
import type { Screen } from './print/screen.ts';
import { table, timeText } from './print/table.ts';
import { valueLines } from './print/value.ts';
import { shellWord, takeBackLines, type TakenBack } from './print/printed-command.ts';

const LISTS = '/protect/lists';

const settings = {
  url: 'URL',
  format: 'text|csv|ndjson|json|crowdsec',
  column: 'NAME',
  selector: 'PATH',
  header: 'NAME',
  'header-value-file': 'FILE',
  verdict: 'allow|challenge|block',
  every: 'MINUTES',
  expiry: 'SECONDS|never',
  'max-change': 'PERCENT',
  reserved: 'on|off',
};

type Values = Given['values'];

export const listCommands: Commands = {
  'lists add': instanceCommand({
    about:
      'Subscribes to a list and reads it. Without --url it is a file, see lists replace. It is monitored until lists enforce.',
    example: 'lists add offices --verdict allow',
    positionals: ['NAME'],
    optional: settings,
    run: async (given): Promise<ListStatus & TakenBack> => {
      const name = nameOf(given);
      const body = { name, ...fieldsOf(given.values) };
      const target = given.target();
      const created = await callService(target, `${LISTS}/create`, body);
      const status = given.values['url'] === undefined ? created : await refreshed(target, name, false);
      return { ...status, takeBack: given.typed(`lists remove ${name}`) };
    },
    print: ({ takeBack, ...status }, screen) => [...valueLines(status, screen), ...takeBackLines({ takeBack })],
    exitCode: (status) => exitCode(status),
  }),
  'lists list': instanceCommand({
    about: 'Lists every list with its state.',
    example: 'lists list',
    run: (given) => callService(given.target(), LISTS, {}),
    print: ({ lists }, screen) => listLines(lists, screen),
  }),
  'lists show': instanceCommand({
    about: 'Shows one list: settings, state, and what was left out.',
    example: 'lists show offices',
    positionals: ['NAME'],
    run: listNamed,
  }),
  'lists set': instanceCommand({
    about: 'Changes settings of a list and keeps the others.',
    example: 'lists set offices --max-change 80',
    positionals: ['NAME'],
    optional: settings,
    run: (given) => updated(given, fieldsOf(given.values)),
  }),
  'lists refresh': instanceCommand({
    about: 'Reads a list now. It fails if the list cannot be read, or changed too much.',
    example: 'lists refresh spamhaus-drop',
    positionals: ['NAME'],
    switches: ['accept-change'],
    run: (given) => refreshed(given.target(), nameOf(given), acceptsChange(given)),
    exitCode,
  }),
  'lists replace': instanceCommand({
    about: 'Makes a file the whole content of a list. FILE may be - for standard input.',
    example: 'lists replace offices offices.txt',
    positionals: ['NAME', 'FILE'],
    switches: ['accept-change'],
    run: (given) => {
      const [name, file = ''] = given.positionals;
      const body = { name, content: contentOf(file), acceptChange: acceptsChange(given) };
      return callService(given.target(), `${LISTS}/replace`, body);
    },
  }),
  'lists preview': instanceCommand({
    about:
      'Reads a list and tells what it would have done to the requests of the last day. --file for a list that is one.',
    example: 'lists preview offices --file offices.txt',
    positionals: ['NAME'],
    optional: { file: 'FILE', ...settings },
    run: (given) => {
      const { file } = given.values;
      const content = file === undefined ? undefined : contentOf(file);
      const body = { name: nameOf(given), content, ...previewedFields(given.values) };
      return callService(given.target(), `${LISTS}/preview`, body);
    },
    print: previewLines,
  }),
  'lists enforce': instanceCommand({
    about: 'Lets the entries of a list decide.',
    example: 'lists enforce offices',
    positionals: ['NAME'],
    run: (given) => updated(given, { mode: 'enforce' }),
  }),
  'lists monitor': instanceCommand({
    about: 'Only records the entries of a list.',
    example: 'lists monitor offices',
    positionals: ['NAME'],
    run: (given) => updated(given, { mode: 'monitor' }),
  }),
  'lists remove': instanceCommand({
    about: 'Unsubscribes. Exactly its entries go.',
    example: 'lists remove offices',
    positionals: ['NAME'],
    run: async (given) => {
      const list = await listNamed(given);
      const answer = await callService(given.target(), `${LISTS}/delete`, { name: list.name });
      return { ...answer, takeBack: waysBack(list).map(given.typed).join(' && ') };
    },
    print: (result) => ['The list and its entries are removed.', ...takeBackLines(result)],
  }),
};

async function listNamed(given: Given): Promise<ListStatus> {
  const name = nameOf(given);
  const { lists } = await callService(given.target(), LISTS, {});
  const found = lists.find((list) => list.name === name);
  if (found === undefined) throw new CallError(`The instance has no list with the name ${name}.`);
  return found;
}

/** Commands that make a removed list again. What only its owner has is in capitals: a header's value, the file. */
function waysBack(list: ListStatus): string[] {
  const { name, url, expirySeconds, includeReserved, hasAuthorization, mode } = list;
  const flags = Object.entries({
    url,
    format: list.format,
    column: list.column,
    selector: list.selector,
    verdict: list.verdict,
    every: list.intervalMinutes,
    expiry: expirySeconds ?? 'never',
    'max-change': list.maxChangePercent,
    reserved: includeReserved ? 'on' : 'off',
  }).flatMap(([flag, value]) => (value === null ? [] : [` --${flag} ${shellWord(String(value))}`]));
  const secret = hasAuthorization ? ' --header NAME --header-value-file FILE' : '';
  return [
    `lists add ${name}${flags.join('')}${secret}`,
    ...(url === null ? [`lists replace ${name} FILE`] : []),
    ...(mode === 'enforce' ? [`lists enforce ${name}`] : []),
  ];
}

function nameOf({ positionals: [name = ''] }: Given): string {
  return name;
}

function acceptsChange({ switches }: Given): boolean {
  return switches.has('accept-change');
}

function updated(given: Given, change: object): Promise<unknown> {
  return callService(given.target(), `${LISTS}/update`, { name: nameOf(given), ...change });
}

async function refreshed(target: ServiceTarget, name: string, acceptChange: boolean): Promise<ListStatus> {
  return (await callService(target, `${LISTS}/refresh`, { name, acceptChange })).list;
}

/** A list that could not be read says why, and its last good reading stays in force. */
function exitCode({ error }: ListStatus): number {
  return error === null ? 0 : 1;
}

function previewLines(preview: ResponseAt<'/protect/lists/preview'>, screen: Screen): string[] {
  const { entries, present, added, removed, report, changed } = preview;
  const leftOut = report.notUnderstood + report.reserved + report.tooWide;
  return [
    `${entries} entries of ${report.lines} lines; ${leftOut} lines are left out.`,
    `The list has ${present} entries now: ${added} are new, ${removed} go.`,
    reachLine(preview, `${changed} would be decided otherwise.`),
    ...changeLines(preview, screen),
  ];
}

function listLines(lists: readonly ListStatus[], screen: Screen): string[] {
  if (lists.length === 0) return ['There are no lists. Add one with: lists add NAME'];
  const lines = table(
    [
      { title: 'NAME', cell: ({ name }) => name, isWhole: true },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'MODE', cell: ({ mode }) => mode },
      { title: 'VERDICT', cell: ({ verdict }) => verdict },
      { title: 'ENTRIES', cell: ({ entries }) => entries },
      { title: 'READ', cell: ({ confirmedAt }) => timeText(confirmedAt) },
      { title: 'FROM', cell: ({ url }) => url ?? 'a file' },
    ],
    lists,
    screen,
  );
  const failing = lists.flatMap(({ name, error }) => (error === null ? [] : [printable(`${name}: ${error}`)]));
  return [...lines, ...(failing.length === 0 ? [] : ['', ...failing])];
}

function fieldsOf(values: Values): object {
  const { every, expiry, reserved } = values;
  const maxChange = values['max-change'];
  return {
    ...previewedFields(values),
    intervalMinutes: every === undefined ? undefined : typedNumber('--every', every),
    expirySeconds: expiry === undefined ? undefined : expiry === 'never' ? null : typedNumber('--expiry', expiry),
    maxChangePercent: maxChange === undefined ? undefined : typedNumber('--max-change', maxChange),
    includeReserved: reserved === undefined ? undefined : isOn('--reserved', reserved),
  };
}

function previewedFields(values: Values): object {
  const { url, format, column, selector, verdict, reserved } = values;
  return {
    url,
    format,
    column,
    selector,
    verdict,
    authorization: authorizationOf(values),
    includeReserved: reserved === undefined ? undefined : isOn('--reserved', reserved),
  };
}

/** The value comes from a file: the words of a command are seen by every process. */
function authorizationOf({ header, 'header-value-file': file }: Values): object | undefined {
  if (header === undefined && file === undefined) return undefined;
  if (header === undefined || file === undefined) {
    throw new CommandError('--header and --header-value-file belong together.');
  }
  return { header, value: contentOf(file).trim() };
}
