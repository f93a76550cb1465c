/**
 * What a command takes, in one description: its usage, its `--help` and the check of what was typed come from it. A
 * mistake is found before a database or a service is called, and its message names everything that is missing.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { distance } from 'fastest-levenshtein';
import { OperatorError } from './failure.ts';

/** A mistake in the command, shown as one line without a stack trace. */
export class CommandError extends OperatorError {}

export interface CommandResult {
  exitCode: number;
  output: string;
}

/** Names of values, by the name of their flag: `{email: 'ADDRESS'}` is `--email ADDRESS`. */
type Flags = Readonly<Record<string, string>>;

export interface CommandLine {
  /** One sentence for `--help`. */
  about: string;
  /** Those in brackets may be left out. */
  positionals?: readonly string[];
  required?: Flags;
  optional?: Flags;
  /** Flags without a value. */
  switches?: readonly string[];
}

export interface Arguments {
  values: Readonly<Record<string, string | undefined>>;
  switches: ReadonlySet<string>;
  positionals: readonly string[];
}

/** The command's own line: `account set-tier ACCOUNT TIER`. */
export function usageOf(name: string, line: CommandLine): string {
  const required = Object.entries(line.required ?? {}).map(([flag, value]) => `--${flag} ${value}`);
  const optional = Object.entries(line.optional ?? {}).map(([flag, value]) => `[--${flag} ${value}]`);
  const switches = (line.switches ?? []).map((flag) => `[--${flag}]`);
  return [name, ...(line.positionals ?? []), ...required, ...optional, ...switches].join(' ');
}

/** @throws CommandError when the arguments are not what the command takes. */
export function argumentsOf(name: string, line: CommandLine, args: readonly string[]): Arguments {
  const usage = `Usage: ${usageOf(name, line)}`;
  const withValue = Object.keys({ ...line.required, ...line.optional });
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const flag of withValue) options[flag] = { type: 'string' };
  for (const flag of line.switches ?? []) options[flag] = { type: 'boolean' };
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });

  const values: Record<string, string | undefined> = {};
  const switches = new Set<string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(options, token.name)) throw new CommandError(`Unknown flag ${token.rawName}. ${usage}`);
    if (options[token.name]?.type === 'boolean') {
      if (token.value !== undefined) throw new CommandError(`${token.rawName} takes no value. ${usage}`);
      switches.add(token.name);
    } else {
      // The next flag is not the value of this one. A value that begins with a dash is written behind `=`.
      const isFlag = !token.inlineValue && token.value?.startsWith('--');
      if (token.value === undefined || token.value === '' || isFlag)
        throw new CommandError(`${token.rawName} is missing its value. ${usage}`);
      values[token.name] = token.value;
    }
  }
  const wanted = line.positionals ?? [];
  const missing = [
    ...wanted.filter((place) => !place.startsWith('[')).slice(positionals.filter((word) => word !== '').length),
    ...Object.keys(line.required ?? {}).flatMap((flag) => (values[flag] === undefined ? [`--${flag}`] : [])),
  ];
  if (missing.length > 0) throw new CommandError(`Missing: ${missing.join(', ')}. ${usage}`);
  const extra = positionals.slice(wanted.length);
  if (extra.length > 0) throw new CommandError(`Unexpected: ${extra.join(' ')}. ${usage}`);
  return { values, switches, positionals };
}

/** Two letters in the wrong order are two mistakes. */
const MISTAKES_MAX = 2;

export interface Found<Entry> {
  name: string;
  entry: Entry;
  /** The words behind the name. */
  rest: readonly string[];
}

/** @throws CommandError when no command has this name. */
export function findCommand<Entry extends CommandLine>(
  table: Readonly<Record<string, Entry>>,
  words: readonly string[],
): Found<Entry> {
  const [noun = '', verb = ''] = words;
  for (const name of [`${noun} ${verb}`, noun]) {
    const entry = Object.hasOwn(table, name) ? table[name] : undefined;
    if (entry !== undefined) return { name, entry, rest: words.slice(name.split(' ').length) };
  }
  const typed = (verb.startsWith('-') ? noun : `${noun} ${verb}`).trim();
  const ofNoun = Object.entries(table).filter(([name]) => name.startsWith(`${noun} `));
  const isGroup = typed === noun && ofNoun.length > 0;
  const near = isGroup ? null : nearest(typed, Object.keys(table));
  const suggestion = near === null ? '' : ` Did you mean "${near}"?`;
  const known = ofNoun.map((line) => `  ${usageOf(...line)}`);
  const hint = known.length > 0 ? `Use one of these:\n\n${known.join('\n')}` : 'List the commands with --help.';
  throw new CommandError(`There is no command "${typed}".${suggestion} ${hint}`);
}

/** The name with the fewest mistakes, for the whole of what was typed or for its first word. */
function nearest(typed: string, names: readonly string[]): string | null {
  const [first = ''] = typed.split(' ', 1);
  let [best, fewest] = [null as string | null, Number.POSITIVE_INFINITY];
  for (const name of names) {
    for (const text of new Set([typed, first])) {
      const mistakes = distance(text, name);
      if (mistakes <= Math.min(MISTAKES_MAX, name.length - 1, text.length - 1) && mistakes < fewest)
        [best, fewest] = [name, mistakes];
    }
  }
  return best;
}
