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
import { parseArgs } from 'node:util';
import { EDGE_RULES_PER_CALL_MAX } from '../contract/management/edge-rule.ts';
import type { CommandResult } from './commands.ts';
import { call, CallError, post, targetOf } from './management-call.ts';
import type { Target } from './management-call.ts';
import { rulePieces } from './rule-pieces.ts';

export const rulesUsage = `rules import FILE [--format csv|ndjson|list] [--verdict allow|challenge|block] [--note TEXT]
rules export [--format csv|ndjson|list] [--verdict V] [--out FILE]
rules history [--limit N]
rules rollback VERSION
  FILE may be - for standard input. Every command accepts --site-key KEY, and --service URL with the API key in the
  variable GATEHOUSE_API_KEY. Without --service, the command uses the running local stack.`;

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

/** Arguments of each command. */
const operands = { import: ['FILE'], export: [], history: [], rollback: ['VERSION'] } as const;

const options = {
  format: { type: 'string' },
  verdict: { type: 'string' },
  note: { type: 'string' },
  out: { type: 'string' },
  limit: { type: 'string' },
  service: { type: 'string' },
  'site-key': { type: 'string' },
} as const;

/** `args`: the words after `rules`. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [command, operand] = positionals;
    if (command === undefined || command === 'help') return { exitCode: 0, output: rulesUsage };
    const names = Object.hasOwn(operands, command) ? operands[command as keyof typeof operands] : undefined;
    if (names === undefined)
      throw new CallError(`There is no command "rules ${command}". Use one of these:\n${rulesUsage}`);
    if (names[0] !== undefined && operand === undefined)
      throw new CallError(`${command} needs a ${names[0]}. Add it after the command.`);
    const extra = positionals.slice(1 + names.length);
    if (extra.length > 0) throw new CallError(`Unexpected: ${extra.join(' ')}. Remove it.`);
    const limit = wholeNumber('--limit', values.limit ?? '50');
    const target = targetOf(values.service, values['site-key'], stateDir);
    const { format, verdict, note } = values;
    if (command === 'import') {
      return await importFile(target, operand ?? '', { format, verdict, note });
    }
    if (command === 'export') return await exportFile(target, { format, verdict }, values.out);
    if (command === 'history') return shown(await call(target, `${RULES}/history`, { limit }));
    return shown(await call(target, `${RULES}/rollback`, { version: wholeNumber('VERSION', operand ?? '') }));
  } catch (error) {
    if (error instanceof CallError) return { exitCode: 1, output: error.message };
    if (error instanceof TypeError) return { exitCode: 1, output: `${error.message}\n${rulesUsage}` };
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
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  for await (const piece of rulePieces(lines, settings['format'], EDGE_RULES_PER_CALL_MAX)) {
    const response = (await call(target, `${RULES}/import`, {
      ...settings,
      format: piece.format,
      content: piece.content,
      firstLine: piece.firstLine,
      columns: piece.columns,
    })) as ImportResponse;
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
  if (total.skipped > 0 && total.created + total.updated + total.unchanged === 0) {
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
