/**
 * One run of the command line: reads the flags that every command has, finds the command in the table, runs it, and
 * prints its result: for people on a terminal, as JSON for everything else. A failure is one line on standard error.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { GATEHOUSE_VERSION } from '../contract/version.ts';
import { CommandError, argumentsOf, findCommand } from './command-line.ts';
import { commandTable } from './command-table.ts';
import type { Command, Given, Input } from './command.ts';
import { OperatorError, failure } from './failure.ts';
import { help } from './help.ts';
import { serviceTarget, versionWatch } from './management-call.ts';
import { jsonText, printable } from './print/printable.ts';
import { progressOn, screenOf, type Output } from './print/screen.ts';
import { valueLines } from './print/value.ts';
import { DEFAULT_STATE, shellWord, stateFlag } from './print/printed-command.ts';

/** What surrounds a run. Tests have their own. */
export interface Surroundings {
  stdout: Writable & Output;
  stderr: Writable & Output;
  stdin: Input;
  env: Readonly<Record<string, string | undefined>>;
  /** The words with which this program is called, for usages. */
  program: string;
  version: string;
  /** This is a checkout, with wrangler and the simulator. */
  hasRepository: boolean;
  /** Aborted by Ctrl-C. Listens from the call on. */
  interrupted(): AbortSignal;
}

interface CommonFlags {
  state: string;
  isStateGiven: boolean;
  remote: boolean;
  json: boolean | null;
}

/** @returns the exit code. */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  try {
    return await dispatch(argv, around);
  } catch (error) {
    around.stderr.write(`${failure(error, around.env)}\n`);
    return 1;
  }
}

async function dispatch(argv: readonly string[], around: Surroundings): Promise<number> {
  const { stdout, env } = around;
  const { flags, words } = commonFlagsOf(argv);
  const screen = screenOf(stdout, env);
  const write = (text: string | Uint8Array) => written(stdout, text);
  const note = (line: string) => void around.stderr.write(`${line}\n`);
  if (words.length === 0 || words[0] === 'help' || words.some((word) => word === '--help' || word === '-h')) {
    await write(`${help(words, commandTable, around.program, screen)}\n`);
    return 0;
  }
  if (words.includes('--version') && !hasFlag(words, 'version')) {
    await write(`${around.version}\n`);
    return 0;
  }
  const { name, entry, rest } = findCommand(commandTable, words);
  if (flags.remote && entry.on !== 'database')
    throw new CommandError(`${name} has no --remote. Name the deployed service with --service URL.`);
  const read = argumentsOf(name, entry, rest);
  mustHaveRepository(name, entry, around);
  const json = flags.json ?? (!screen.isTerminal && entry.isDocument !== true);
  const given: Given = {
    ...read,
    words,
    state: flags.state,
    typed: (typedWords) => {
      const named = ['service', 'site-key'].flatMap((flag) => {
        const value = read.values[flag];
        return value === undefined ? [] : [` --${flag} ${shellWord(value)}`];
      });
      const place = read.values['service'] === undefined ? stateFlag(flags.state) : '';
      return `${around.program} ${typedWords}${named.join('')}${place}`;
    },
    remote: flags.remote,
    json,
    screen,
    commands: commandTable,
    env,
    signal: entry.endsItself === true ? around.interrupted() : new AbortController().signal,
    stdin: around.stdin,
    target: () => {
      const target = serviceTarget(read.values, { ...flags, env, hasRepository: around.hasRepository });
      if (target.isSavedLogin) note(printable(`Service: ${target.serviceUrl}`));
      return { ...target, heardVersion: versionWatch(around, (line) => note(line)) };
    },
    write,
    note,
    progress: (what) => progressOn(around.stderr, what),
  };
  const result = await entry.run(given);
  if (result !== undefined && result !== null) await write(`${textOf(entry, result as object, given)}\n`);
  return entry.exitCode?.(result) ?? 0;
}

/** Whether the command has a flag of this name of its own, such as `policies list --version N`. */
function hasFlag([noun = '', verb = '']: readonly string[], flag: string): boolean {
  const entry = commandTable[`${noun} ${verb}`] ?? commandTable[noun];
  return Object.hasOwn({ ...entry?.required, ...entry?.optional }, flag);
}

function textOf(entry: Command, result: object, { json, screen }: Given): string {
  if (json) return jsonText(result);
  return (entry.print?.(result, screen) ?? valueLines(result, screen)).join('\n');
}

/** Separates the flags that every command has from the command's own words. */
function commonFlagsOf(argv: readonly string[]): { flags: CommonFlags; words: string[] } {
  const flags: CommonFlags = { state: DEFAULT_STATE, isStateGiven: false, remote: false, json: null };
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--remote') flags.remote = true;
    else if (word === '--json') flags.json = true;
    else if (word === '--text') flags.json = false;
    else if (word === '--state' || word.startsWith('--state=')) {
      flags.state = word === '--state' ? (argv[(at += 1)] ?? '') : word.slice('--state='.length);
      flags.isStateGiven = true;
    } else words.push(word);
  }
  if (flags.state === '' || flags.state.startsWith('--'))
    throw new CommandError('--state is missing its directory. Add it after the flag.');
  return { flags, words };
}

function mustHaveRepository(name: string, { needs }: Command, { hasRepository }: Surroundings): void {
  if (needs !== 'repository' || hasRepository) return;
  throw new OperatorError(
    `${name} needs the repository of Gatehouse, with wrangler and the local stack. Clone it, and run it there with: npm run gatehouse -- ${name}`,
  );
}

async function written(stdout: Writable, text: string | Uint8Array): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain');
}

/** Runs the command of this process, and ends it with the exit code. */
export async function runThisProcess(of: Pick<Surroundings, 'program' | 'hasRepository'>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    // `gatehouse verdicts | head` closes the pipe. What was wanted is there, so this is no failure.
    stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  }
  const { stdin, stdout, stderr, env } = process;
  const around = { ...of, version: GATEHOUSE_VERSION, stdin, stdout, stderr, env, interrupted };
  const exitCode = await main(process.argv.slice(2), around);
  // After everything is written. Wrangler may still wait for an answer, which would keep the process alive.
  stdout.write('', () => stderr.write('', () => process.exit(exitCode)));
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}
