/**
 * `gatehouse rules import|export|history|rollback`: access rules over the management API, of a local stack or a deployed
 * service. A file of any length is sent in pieces of 10,000 lines, so neither side keeps it in memory. Progress and
 * skipped lines go to standard error.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EDGE_RULES_PER_CALL_MAX } from '../contract/management/edge-rule-limits.ts';
import { argumentsOf, CommandError, usageOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { ImportUndo } from './import-undo.ts';
import { call, CallError, post, targetFlags, targetOf } from './management-call.ts';
import type { Target } from './management-call.ts';
import { rulePieces } from '../contract/management/rule-file/rule-pieces.ts';

const RULES = '/protect/access-rules';
/** The first skipped lines are printed at the end, the others only counted. */
const SKIPPED_LINES_SHOWN = 100;

interface ImportResponse {
  format: string;
  created: number;
  updated: number;
  unchanged: number;
  skipped: number;
  skippedLines: { line: number; reason: string }[];
  version: number;
}

const format = { format: 'csv|ndjson|list' };
const verdict = { verdict: 'allow|challenge|block' };

export const ruleCommands = {
  'rules import': {
    about:
      'Creates or updates a rule for each line. FILE may be - for standard input. --verdict is for lines without one.',
    positionals: ['FILE'],
    optional: { ...format, ...verdict, note: 'TEXT', ...targetFlags },
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
    const { values, positionals } = argumentsOf(name, ruleCommands[name], args.slice(2));
    const [operand = ''] = positionals;
    const limit = wholeNumber('--limit', values['limit'] ?? '50');
    const version = name === 'rules rollback' ? wholeNumber('VERSION', operand) : 0;
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const settings = { format: values['format'], verdict: values['verdict'] };
    if (name === 'rules import') return await importFile(target, operand, { ...settings, note: values['note'] });
    if (name === 'rules export') return await exportFile(target, settings, values['out']);
    if (name === 'rules history') return shown(await call(target, `${RULES}/history`, { limit }));
    return shown(await call(target, `${RULES}/rollback`, { version }));
  } catch (error) {
    // Errors of the file system name the operation and the path.
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

async function importFile(
  target: Target,
  path: string,
  settings: Record<string, string | undefined>,
): Promise<CommandResult> {
  const input = path === '-' ? process.stdin : await opened(path);
  const firstSkipped: string[] = [];
  const total = { created: 0, updated: 0, unchanged: 0, skipped: 0, lines: 0, version: 0 };
  const undo = new ImportUndo(target);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  for await (const piece of rulePieces(lines, settings['format'], EDGE_RULES_PER_CALL_MAX)) {
    const response = (await call(target, `${RULES}/import`, {
      ...settings,
      format: piece.format,
      content: piece.content,
      firstLine: piece.firstLine,
      columns: piece.columns,
    }).catch(async (error: unknown) => {
      throw await undo.after(error);
    })) as ImportResponse;
    undo.accepted(piece.lastLine, response.version, response.created + response.updated > 0);
    total.created += response.created;
    total.updated += response.updated;
    total.unchanged += response.unchanged;
    total.lines = piece.lastLine;
    total.version = response.version;
    for (const { line, reason } of response.skippedLines) {
      if (total.skipped < SKIPPED_LINES_SHOWN) firstSkipped.push(`line ${line} skipped: ${reason}`);
      total.skipped += 1;
    }
    total.skipped += response.skipped - response.skippedLines.length;
    process.stderr.write(`${total.lines} lines read, ${total.created + total.updated + total.unchanged} rules\n`);
  }
  const isNothing = total.created + total.updated + total.unchanged === 0;
  if (isNothing && total.skipped === 0) {
    throw new CallError(`No rules in ${path === '-' ? 'standard input' : path}. Nothing was changed.`);
  }
  if (isNothing) {
    throw new CallError(`No rule was imported: all ${total.skipped} lines were skipped. First: ${firstSkipped[0]}`);
  }
  if (firstSkipped.length > 0) process.stderr.write(`${firstSkipped.join('\n')}\n`);
  return shown(total);
}

/** Reads the first bytes, so that a directory or a missing file is reported before anything is sent. */
async function opened(path: string): Promise<Readable> {
  const stream = createReadStream(path, 'utf8');
  try {
    await once(stream, 'readable');
  } catch (error) {
    throw new CallError(
      `${path} cannot be read. Check the path. ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return stream;
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
