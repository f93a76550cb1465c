/** `gatehouse completion SHELL`: a script that completes commands, flags and values, made from the table of commands. */
import { CommandError } from '../command-line.ts';
import { command, type Commands } from '../command.ts';
import { bashCompletion } from './bash.ts';
import { describedCommands } from './described-commands.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const shells: Readonly<Record<string, typeof bashCompletion>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export const completionCommands: Commands = {
  completion: command({
    about:
      'Prints a script for your shell, which then completes commands, flags and values. SHELL is bash, zsh or fish.',
    example: 'completion bash',
    on: 'machine',
    isDocument: true,
    positionals: ['SHELL'],
    choices: { SHELL: Object.keys(shells) },
    async run({ positionals: [shell = ''], commands }) {
      const script = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
      if (script === undefined) throw new CommandError(`There is no completion for ${shell}. Use bash, zsh or fish.`);
      return { shell, script: script(describedCommands(commands)) };
    },
    print: ({ script }) => [script.trimEnd()],
  }),
};
