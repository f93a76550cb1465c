/**
 * `gatehouse rules import|export|history|rollback`: access rules over the management API, of a local stack or a deployed
 * service.
 */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { argumentsOf, CommandError, usageOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { importFile } from './import-rules.ts';
import { call, CallError, post, targetFlags, targetOf } from './management-call.ts';
import type { Target } from './management-call.ts';

const RULES = '/protect/access-rules';
const format = { format: 'csv|ndjson|list' };
const verdict = { verdict: 'allow|challenge|block' };

export const ruleCommands = {
  'rules import': {
    about:
      'Creates or updates a rule for each line. FILE may be - for standard input. --verdict, --mode, --expiry and --note are for lines without one. --dry-run changes nothing.',
    positionals: ['FILE'],
    optional: { ...format, ...verdict, mode: 'enforce|monitor', expiry: 'DATE|30d', note: 'TEXT', ...targetFlags },
    switches: ['dry-run'],
  },
  'rules export': {
    about: 'Writes every rule, or those with one verdict, to standard output or to a file.',
    optional: { ...format, ...verdict, out: 'FILE', ...targetFlags },
  },
  'rules history': {
    about: 'Lists the last versions of the rules, 50 unless --limit says otherwise.',
    optional: { limit: 'N', ...targetFlags },
  },
  'rules rollback': {
    about: 'Makes the rules what they were at a version of the history.',
    positionals: ['VERSION'],
    optional: targetFlags,
  },
} satisfies Record<string, CommandLine>;

const isCommand = (name: string): name is keyof typeof ruleCommands => Object.hasOwn(ruleCommands, name);

/** `args`: the words of the command line, from `rules` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const name = args.slice(0, 2).join(' ');
    if (!isCommand(name)) {
      const lines = Object.entries(ruleCommands).map((command) => `  ${usageOf(...command)}`);
      throw new CommandError(`There is no command "${name}". Use one of these:\n\n${lines.join('\n')}`);
    }
    const { values, switches, positionals } = argumentsOf(name, ruleCommands[name], args.slice(2));
    const [operand = ''] = positionals;
    const limit = wholeNumber('--limit', values['limit'] ?? '50');
    const version = name === 'rules rollback' ? wholeNumber('VERSION', operand) : 0;
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const settings = { format: values['format'], verdict: values['verdict'] };
    if (name === 'rules import') {
      const { mode, expiry, note } = values;
      return shown(await importFile(target, operand, { ...settings, mode, expiry, note }, switches.has('dry-run')));
    }
    if (name === 'rules export') return await exportFile(target, settings, values['out']);
    if (name === 'rules history') return shown(await call(target, `${RULES}/history`, { limit }));
    return shown(await call(target, `${RULES}/rollback`, { version }));
  } catch (error) {
    // Errors of the file system name the operation and the path.
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

async function exportFile(
  target: Target,
  settings: Record<string, string | undefined>,
  out: string | undefined,
): Promise<CommandResult> {
  const response = await post(target, `${RULES}/export`, settings);
  if (!response.body) throw new CallError('The service sent an empty response. Try again.');
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  if (out === undefined) {
    for await (const chunk of body) process.stdout.write(chunk as Uint8Array);
    return { exitCode: 0, output: '' };
  }
  await pipeline(body, createWriteStream(out));
  return { exitCode: 0, output: `The rules are in ${out}.` };
}

function shown(response: unknown): CommandResult {
  return { exitCode: 0, output: JSON.stringify(response, null, 2) };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CallError(`${name} must be a whole number, not ${text}.`);
  return Number(text);
}
