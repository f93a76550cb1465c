/** The commands on the database as entries of the table. What runs them needs the repository. */
import { resolve } from 'node:path';
import type { Command, Commands, Given } from '../command.ts';
import type { CommandLine } from '../command-line.ts';
import { databaseLines } from './lines.ts';
import { printerOf } from './printed.ts';

export const databaseCommands: Commands = Object.fromEntries(
  Object.entries(databaseLines).map(([name, line]) => [name, databaseCommand(name, line)]),
);

function databaseCommand(name: string, line: CommandLine & { example: string }): Command {
  const print = printerOf(name);
  return {
    ...line,
    on: 'database',
    needs: 'repository',
    run: async (given) => (await import('./run-on-database.ts')).runOnDatabase(wordsOf(name, given), given),
    ...(print === null ? {} : { print }),
  };
}

/** The stack that runs the command has a working directory of its own. */
function wordsOf(name: string, { words, positionals: [dir = ''] }: Given): readonly string[] {
  return name === 'log copy' ? ['log', 'copy', resolve(dir)] : words;
}
