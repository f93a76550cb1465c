/** Usage of one command, of the commands that begin with a word, or of all, from the table of commands. */
import type { Command, Commands } from './command.ts';
import { usageOf } from './command-line.ts';
import { cutToWidth, type Screen, widthOf } from './print/screen.ts';

export interface CommonFlag {
  /** With the name of its value: `state DIR`. */
  flag: string;
  about: string;
}

const local: CommonFlag = { flag: 'state DIR', about: 'the local stack (.gatehouse)' };
/** The flags that every command of a section has, and those that every command has. */
export const commonFlags: Readonly<Record<Command['on'] | 'all', readonly CommonFlag[]>> = {
  service: [
    {
      flag: 'service URL',
      about: 'a deployed service, with the saved login or an API key in the variable GATEHOUSE_API_KEY',
    },
    local,
  ],
  database: [
    local,
    {
      flag: 'remote',
      about: "the deployed database, with wrangler's login. MASTER_KEY is the variable, or the file of npm run deploy",
    },
  ],
  machine: [],
  all: [
    { flag: 'json', about: 'JSON, as programs and files get it' },
    { flag: 'text', about: 'tables and sentences, as a terminal gets them' },
  ],
};

const sections = [
  ['Commands over the management API', 'service'],
  ['Commands on the database', 'database'],
  ['Other commands', 'machine'],
] as const;

export function help(words: readonly string[], commands: Commands, program: string, screen: Screen): string {
  const named = words.filter((word) => !word.startsWith('-') && word !== 'help').join(' ');
  const one = Object.entries(commands).find(([name]) => `${named} `.startsWith(`${name} `));
  if (one !== undefined) return commandHelp(one[0], one[1], program);
  const ofNoun = Object.entries(commands).filter(([name]) => name.startsWith(`${named.split(' ', 1)[0]} `));
  const listed = named !== '' && ofNoun.length > 0 ? ofNoun : Object.entries(commands);
  const width = Math.max(...listed.map(([name, entry]) => widthOf(headOf(name, entry))));
  const parts = sections.flatMap(([title, on]) => {
    const lines = listed
      .filter(([, entry]) => entry.on === on)
      .map(([name, entry]) =>
        cutToWidth(`  ${headOf(name, entry).padEnd(width)}  ${firstSentence(entry.about)}`, screen.columns),
      );
    return lines.length === 0 ? [] : [`${screen.style('bold', `${title}:`)}\n${lines.join('\n')}`];
  });
  return [
    `Usage: ${program} COMMAND`,
    ...parts,
    `COMMAND --help explains a command. --version prints the version. Exit codes: 0 done, 1 failed, 2 a check that found something.`,
  ].join('\n\n');
}

function commandHelp(name: string, entry: Command, program: string): string {
  const flags = [...commonFlags[entry.on], ...commonFlags.all];
  return `Usage: ${program} ${usageOf(name, entry)}

${entry.about}

Example:
  ${program} ${entry.example}

Flags of every such command:
${flags.map(({ flag, about }) => `  --${flag.padEnd(13)}${about}`).join('\n')}`;
}

function headOf(name: string, { positionals = [] }: Command): string {
  return [name, ...positionals].join(' ');
}

export function firstSentence(about: string): string {
  return /^.*?\.(?= [A-Z0-9-]|$)/s.exec(about)?.[0] ?? about;
}
