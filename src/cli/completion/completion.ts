/**
 * `gatehouse completion SHELL`: a script for the shell, made from the table of commands: the words of each command, its
 * flags, and the values that are known.
 */
import { CommandError } from '../command-line.ts';
import { type Command, command, type Commands } from '../command.ts';
import { type CommonFlag, commonFlags, firstSentence } from '../help.ts';
import {
  bashCompletion,
  type DescribedCommand,
  type DescribedFlag,
  fishCompletion,
  type Values,
  zshCompletion,
} from './shells.ts';

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

function describedCommands(commands: Commands): DescribedCommand[] {
  return Object.entries(commands).map(([name, entry]) => {
    const [noun = '', verb = null] = name.split(' ');
    const { required, optional, switches = [], positionals = [] } = entry;
    return {
      noun,
      verb,
      about: firstSentence(entry.about).replaceAll(/[^\w .,:/()-]/g, ''),
      flags: [
        ...Object.entries({ ...required, ...optional }).map(([flag, value]) => ({
          flag: `--${flag}`,
          values: valuesOf(flag, value, entry),
        })),
        ...switches.map((flag) => ({ flag: `--${flag}`, values: null })),
        // `--service` is among the flags of the command itself.
        ...commonFlags[entry.on].filter(({ flag }) => flag !== 'service URL').map(describedFlag),
        ...[...commonFlags.all, { flag: 'help' }].map(describedFlag),
      ],
      operands: positionals.map((place) => valuesOf(place, place, entry)).find(isKnown) ?? { kind: 'none' },
    };
  });
}

/** `state DIR` */
function describedFlag({ flag }: Pick<CommonFlag, 'flag'>): DescribedFlag {
  const [name, value] = flag.split(' ');
  return { flag: `--${name}`, values: value === undefined ? null : { kind: 'files' } };
}

/** `csv|ndjson` are words, FILE and DIR are files. */
function valuesOf(name: string, value: string, { choices }: Command): Values {
  const words = choices?.[name] ?? (value.includes('|') ? value.split('|') : []);
  const plain = words.filter((word) => /^[a-z\d][\w.-]*$/.test(word));
  if (plain.length > 0) return { kind: 'words', words: plain };
  return /^(?:FILE|DIR)$/.test(value) ? { kind: 'files' } : { kind: 'none' };
}

function isKnown({ kind }: Values): boolean {
  return kind !== 'none';
}
