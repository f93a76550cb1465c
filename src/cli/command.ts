/**
 * What a command is. All commands are in one table, `command-table.ts`: usage, `--help`, shell completion and docs/cli.md
 * are made from it. To add a command:
 *
 * 1. Write an entry with `command({ about, example, …, run, print? })` in a file of its room, under the words that name
 *    it, for example `'rules import'`, and spread the room's entries into the table. `serviceCommand` and
 *    `instanceCommand` have the flags of commands over the management API.
 * 2. `run` returns what `--json` prints. `print` makes lines of it for people; without it, objects and lists become
 *    tables. A mistake of the caller is a `CommandError`, any other failure that they can correct an `OperatorError`.
 * 3. What needs this repository (wrangler, the simulator, the database) has `needs: 'repository'` and loads that code
 *    with `await import(…)` inside `run`: the npm package replaces every dynamic import, and refuses the command.
 */
import type { Readable } from 'node:stream';
import type { Arguments, CommandLine } from './command-line.ts';
import type { ServiceTarget } from './management-call.ts';
import type { ProgressBar, Screen } from './print/screen.ts';

export type Input = Readable & { isTTY?: boolean };

/** What a command gets. */
export interface Given extends Arguments {
  /** The command's words as they were typed, without the flags that all commands have. */
  words: readonly string[];
  /** The service that `--service`, `--state` or the saved login name. @throws OperatorError where there is none. */
  target: () => ServiceTarget;
  /** Directory of the local stack. */
  state: string;
  /** A command on the same instance, as it is typed, for what a command prints. */
  typed: (words: string) => string;
  /** `--remote` */
  remote: boolean;
  /** The output is for a program. */
  json: boolean;
  screen: Screen;
  /** The table. */
  commands: Commands;
  /** Of this process. */
  env: Readonly<Record<string, string | undefined>>;
  stdin: Input;
  /** Aborted by Ctrl-C, for commands with `endsItself`. */
  signal: AbortSignal;
  /** Writes to standard output now, and waits for a slow reader. For what is too long to be held in memory. */
  write: (text: string | Uint8Array) => Promise<void>;
  /** One line on standard error. */
  note: (line: string) => void;
  /** A bar on standard error while a long command works. Nothing is shown where standard error is not a terminal. */
  progress: (what: string) => ProgressBar;
}

export interface Command<Result = unknown> extends CommandLine {
  /** The words after `gatehouse`, as docs/cli.md shows and a test runs them. */
  example: string;
  /** The section of `--help`, and the flags that all commands of it have. */
  on: 'service' | 'database' | 'machine';
  needs?: 'repository';
  /** The output is a document of its own, such as a file of rules: `--json` alone makes it JSON. */
  isDocument?: boolean;
  /** The values that a positional or a flag takes, by its name, where the name does not list them: for completion. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** Ctrl-C aborts `signal` in place of the process. */
  endsItself?: boolean;
  /** `undefined`: the command has written its output. */
  run(given: Given): Promise<Result>;
  /** Lines for people. */
  print?(result: NonNullable<Result>, screen: Screen): readonly string[];
  /** 0 unless this says otherwise: 1 for a failure, 2 for a check that finds something. */
  exitCode?(result: Result): number;
}

export type Commands = Readonly<Record<string, Command>>;

/** Infers what `run` returns, which `print` and `exitCode` get. */
export function command<Result>(entry: Command<Result>): Command {
  return entry as Command;
}

const serviceFlags = { service: 'URL' };
/** Flags of every command on an instance. */
export const instanceFlags = { 'site-key': 'KEY', ...serviceFlags };

/** A command over the management API. */
export function serviceCommand<Result>(entry: Omit<Command<Result>, 'on'>): Command {
  return command({ ...entry, on: 'service', optional: { ...entry.optional, ...serviceFlags } });
}

/** A command over the management API that works on one instance. */
export function instanceCommand<Result>(entry: Omit<Command<Result>, 'on'>): Command {
  return command({ ...entry, on: 'service', optional: { ...entry.optional, ...instanceFlags } });
}
