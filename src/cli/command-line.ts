/**
 * What a command takes, in one description: its usage, its `--help` and the check of what was typed come from it. A
 * mistake is found before a database or a service is called, and its message names everything that is missing.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { OperatorError } from './operator-error.ts';

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
    ...wanted.slice(positionals.filter((word) => word !== '').length),
    ...Object.keys(line.required ?? {}).flatMap((flag) => (values[flag] === undefined ? [`--${flag}`] : [])),
  ];
  if (missing.length > 0) throw new CommandError(`Missing: ${missing.join(', ')}. ${usage}`);
  const extra = positionals.slice(wanted.length);
  if (extra.length > 0) throw new CommandError(`Unexpected: ${extra.join(' ')}. ${usage}`);
  return { values, switches, positionals };
}
