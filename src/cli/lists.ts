/**
 * `gatehouse lists …`: blocklists that refresh themselves, and files that are replaced as a whole, over the management
 * API, of a local stack or a deployed service. Everything is printed as JSON.
 */
import { readFileSync } from 'node:fs';
import { argumentsOf, CommandError, usageOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { call, CallError, targetFlags, targetOf } from './management-call.ts';
import type { Target } from './management-call.ts';

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

export const listCommands = {
  'lists add': {
    about:
      'Subscribes to a list and reads it. Without --url it is a file, see lists replace. It is monitored until lists enforce.',
    positionals: ['NAME'],
    optional: { ...settings, ...targetFlags },
  },
  'lists list': { about: 'Lists every list with its state.', optional: targetFlags },
  'lists show': {
    about: 'Shows one list: settings, state, and what was left out.',
    positionals: ['NAME'],
    optional: targetFlags,
  },
  'lists set': {
    about: 'Changes settings of a list and keeps the others.',
    positionals: ['NAME'],
    optional: { ...settings, ...targetFlags },
  },
  'lists refresh': {
    about: 'Reads a list now. It fails if the list cannot be read, or changed too much.',
    positionals: ['NAME'],
    optional: targetFlags,
    switches: ['accept-change'],
  },
  'lists replace': {
    about: 'Makes a file the whole content of a list. FILE may be - for standard input.',
    positionals: ['NAME', 'FILE'],
    optional: targetFlags,
    switches: ['accept-change'],
  },
  'lists preview': {
    about:
      'Reads a list and tells what it would have done to the requests of the last day. --file for a list that is one.',
    positionals: ['NAME'],
    optional: { file: 'FILE', ...settings, ...targetFlags },
  },
  'lists enforce': { about: 'Lets the entries of a list decide.', positionals: ['NAME'], optional: targetFlags },
  'lists monitor': { about: 'Only records the entries of a list.', positionals: ['NAME'], optional: targetFlags },
  'lists remove': { about: 'Unsubscribes. Exactly its entries go.', positionals: ['NAME'], optional: targetFlags },
} satisfies Record<string, CommandLine>;

type Name = keyof typeof listCommands;
type Values = Readonly<Record<string, string | undefined>>;
interface Given {
  name: string;
  file: string;
  values: Values;
  acceptChange: boolean;
}
interface Outcome {
  response: unknown;
  isFailed?: boolean;
}

const isCommand = (name: string): name is Name => Object.hasOwn(listCommands, name);

/** `args`: the words of the command line, from `lists` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const command = args.slice(0, 2).join(' ');
    if (!isCommand(command)) {
      const lines = Object.entries(listCommands).map((one) => `  ${usageOf(...one)}`);
      throw new CommandError(`There is no command "${command}". Use one of these:\n\n${lines.join('\n')}`);
    }
    const { values, switches, positionals } = argumentsOf(command, listCommands[command], args.slice(2));
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const [name = '', file = ''] = positionals;
    const outcome = await calls[command](target, { name, file, values, acceptChange: switches.has('accept-change') });
    return { exitCode: outcome.isFailed === true ? 1 : 0, output: JSON.stringify(outcome.response, null, 2) };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

const calls: Readonly<Record<Name, (target: Target, given: Given) => Promise<Outcome>>> = {
  async 'lists add'(target, { name, values }) {
    const created = await call(target, `${LISTS}/create`, { name, ...fieldsOf(values) });
    return values['url'] === undefined ? { response: created } : refreshed(target, name, false);
  },
  'lists list': async (target) => ({ response: await call(target, LISTS, {}) }),
  async 'lists show'(target, { name }) {
    const { lists } = (await call(target, LISTS, {})) as { lists: { name: string }[] };
    const found = lists.find((list) => list.name === name);
    if (found === undefined) throw new CallError(`The instance has no list with the name ${name}.`);
    return { response: found };
  },
  'lists set': async (target, { name, values }) => ({
    response: await call(target, `${LISTS}/update`, { name, ...fieldsOf(values) }),
  }),
  'lists refresh': (target, { name, acceptChange }) => refreshed(target, name, acceptChange),
  'lists replace': async (target, { name, file, acceptChange }) => ({
    response: await call(target, `${LISTS}/replace`, { name, content: contentOf(file), acceptChange }),
  }),
  'lists preview': async (target, { name, values }) => {
    const { file } = values;
    const content = file === undefined ? undefined : contentOf(file);
    return { response: await call(target, `${LISTS}/preview`, { name, content, ...previewedFields(values) }) };
  },
  'lists enforce': async (target, { name }) => ({
    response: await call(target, `${LISTS}/update`, { name, mode: 'enforce' }),
  }),
  'lists monitor': async (target, { name }) => ({
    response: await call(target, `${LISTS}/update`, { name, mode: 'monitor' }),
  }),
  'lists remove': async (target, { name }) => ({ response: await call(target, `${LISTS}/delete`, { name }) }),
};

async function refreshed(target: Target, name: string, acceptChange: boolean): Promise<Outcome> {
  const { isRead, list } = (await call(target, `${LISTS}/refresh`, { name, acceptChange })) as {
    isRead: boolean;
    list: object;
  };
  return { response: list, isFailed: !isRead };
}

function fieldsOf(values: Values): object {
  const { every, expiry, reserved } = values;
  const maxChange = values['max-change'];
  return {
    ...previewedFields(values),
    intervalMinutes: every === undefined ? undefined : wholeNumber('--every', every),
    expirySeconds: expiry === undefined ? undefined : expiry === 'never' ? null : wholeNumber('--expiry', expiry),
    maxChangePercent: maxChange === undefined ? undefined : wholeNumber('--max-change', maxChange),
    includeReserved: reserved === undefined ? undefined : isOn(reserved),
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
    includeReserved: reserved === undefined ? undefined : isOn(reserved),
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

/** @throws CallError where the file cannot be read. */
function contentOf(file: string): string {
  try {
    return readFileSync(file === '-' ? process.stdin.fd : file, 'utf8');
  } catch (error) {
    throw new CallError(
      `${file} cannot be read. Check the path. ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function isOn(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new CommandError('--reserved is on or off.');
  return text === 'on';
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new CommandError(`${flag} must be a whole number, not ${text}.`);
  return Number(text);
}
