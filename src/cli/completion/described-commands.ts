/** The table of commands as completion needs it: the words of each command, its flags, and the values that are known. */
import type { Command, Commands } from '../command.ts';
import { firstSentence } from '../help.ts';

/** What can follow a flag, or stand in a place. */
export type Values = { kind: 'words'; words: readonly string[] } | { kind: 'files' } | { kind: 'none' };

export interface DescribedFlag {
  /** With its dashes. */
  flag: string;
  /** `null`: the flag has no value. */
  values: Values | null;
}

export interface DescribedCommand {
  noun: string;
  /** `null`: the command is one word. */
  verb: string | null;
  about: string;
  flags: DescribedFlag[];
  /** Of the operands together. */
  operands: Values;
}

const COMMON: Readonly<Record<Command['on'], readonly DescribedFlag[]>> = {
  service: [{ flag: '--state', values: { kind: 'files' } }],
  database: [
    { flag: '--state', values: { kind: 'files' } },
    { flag: '--remote', values: null },
  ],
  machine: [],
};
const FORMS = ['--json', '--text', '--help'].map((flag): DescribedFlag => ({ flag, values: null }));

export function describedCommands(commands: Commands): DescribedCommand[] {
  return Object.entries(commands).map(([name, command]) => {
    const [noun = '', verb = null] = name.split(' ');
    const { required, optional, switches = [], positionals = [] } = command;
    return {
      noun,
      verb,
      about: firstSentence(command.about).replaceAll(/[^\w .,:/()-]/g, ''),
      flags: [
        ...Object.entries({ ...required, ...optional }).map(([flag, value]) => ({
          flag: `--${flag}`,
          values: valuesOf(flag, value, command),
        })),
        ...switches.map((flag) => ({ flag: `--${flag}`, values: null })),
        ...COMMON[command.on],
        ...FORMS,
      ],
      operands: positionals.map((place) => valuesOf(place, place, command)).find(isKnown) ?? { kind: 'none' },
    };
  });
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

/** The commands by their first word, in the order of the table. */
export function byNoun(commands: readonly DescribedCommand[]): Map<string, DescribedCommand[]> {
  const groups = new Map<string, DescribedCommand[]>();
  for (const one of commands) groups.set(one.noun, [...(groups.get(one.noun) ?? []), one]);
  return groups;
}
