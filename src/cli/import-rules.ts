/**
 * `gatehouse rules import`: a file of any length is sent in pieces of 10,000 lines, so neither side keeps it in memory.
 * Progress and a summary of the skipped lines go to standard error. A dry run says what would change, and changes
 * nothing.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { EDGE_RULES_PER_CALL_MAX } from '../contract/management/edge-rule-limits.ts';
import { type RulePiece, rulePieces } from '../contract/management/rule-file/rule-pieces.ts';
import { epochMsOf } from '../contract/management/time.ts';
import { CommandError } from './command-line.ts';
import type { Given } from './command.ts';
import { ImportUndo } from './import-undo.ts';
import { call, CallError, type Target } from './management-call.ts';

const RULES = '/protect/access-rules';
const REASONS_SHOWN = 10;
const LINES_SHOWN = 3;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

interface SkippedLine {
  line: number;
  reason: string;
}

interface Accepted {
  created: number;
  updated: number;
  unchanged: number;
  skipped: number;
  skippedLines: SkippedLine[];
}

interface Imported extends Omit<Accepted, 'skippedLines'> {
  lines: number;
  /** Of the rules after it; absent in a dry run. */
  version?: number;
}

/** @throws CallError when nothing is imported. */
export async function importFile(given: Given): Promise<Imported> {
  const { positionals, values, switches, note } = given;
  const [path = ''] = positionals;
  const fields = {
    format: values['format'],
    verdict: values['verdict'],
    mode: values['mode'],
    note: values['note'],
    expiry: values['expiry'] === undefined ? undefined : expiryOf(values['expiry']),
  };
  const target = given.target();
  const source = path === '-' ? standardInput() : await opened(path);
  const skipped = new SkippedLines();
  const total: Imported = { created: 0, updated: 0, unchanged: 0, skipped: 0, lines: 0 };
  const undo = new ImportUndo(target);
  const progress = given.progress('rules import');
  try {
    for await (const piece of rulePieces(source.lines, fields.format, EDGE_RULES_PER_CALL_MAX)) {
      const { format, content, firstLine, columns } = piece;
      const body = { ...fields, format, content, firstLine, columns };
      const accepted = switches.has('dry-run')
        ? await planned(target, body)
        : await imported(target, body, piece, undo, total);
      total.created += accepted.created;
      total.updated += accepted.updated;
      total.unchanged += accepted.unchanged;
      total.skipped += accepted.skipped;
      total.lines = piece.lastLine;
      skipped.add(accepted);
      progress.at(
        source.readBytes(),
        source.bytes,
        `${total.lines} lines read, ${total.created + total.updated + total.unchanged} rules`,
      );
    }
  } finally {
    progress.end();
  }
  if (total.created + total.updated + total.unchanged === 0) {
    const where = path === '-' ? 'standard input' : path;
    if (total.skipped === 0) throw new CallError(`No rules in ${where}. Nothing was changed.`);
    throw new CallError(`No rule was imported: all ${total.skipped} lines were skipped.\n${skipped.summary()}`);
  }
  if (total.skipped > 0) note(`${total.skipped} lines skipped:\n${skipped.summary()}`);
  return total;
}

async function imported(
  target: Target,
  body: object,
  { lastLine }: RulePiece,
  undo: ImportUndo,
  total: Imported,
): Promise<Accepted> {
  const response = (await call(target, `${RULES}/import`, body).catch(async (error: unknown) => {
    throw await undo.after(error);
  })) as Accepted & { version: number };
  undo.accepted(lastLine, response.version, response.created + response.updated > 0);
  total.version = response.version;
  return response;
}

/** A preview of no requests: only what the rules would change. */
async function planned(target: Target, body: object): Promise<Accepted> {
  const at = Date.now() - UNIT_MS['h']!;
  const { plan, refusedLines } = (await call(target, `${RULES}/preview`, { ...body, since: at, until: at })) as {
    plan: { added: number; changed: number; unchanged: number; refused: number };
    refusedLines: SkippedLine[];
  };
  const { added, changed, unchanged, refused } = plan;
  return { created: added, updated: changed, unchanged, skipped: refused, skippedLines: refusedLines };
}

/** Skipped lines by reason: a file with one mistake in each line has one line of summary. */
class SkippedLines {
  readonly #reasons = new Map<string, number[]>();
  #counted = 0;
  #all = 0;

  add({ skipped, skippedLines }: Accepted): void {
    this.#all += skipped;
    for (const { line, reason } of skippedLines) {
      const lines = this.#reasons.get(reason) ?? [];
      if (lines.length === 0 && this.#reasons.size >= REASONS_SHOWN) continue;
      lines.push(line);
      this.#counted += 1;
      this.#reasons.set(reason, lines);
    }
  }

  summary(): string {
    const rows = [...this.#reasons].map(([reason, lines]) => {
      const shown = lines.slice(0, LINES_SHOWN).join(', ');
      const more = lines.length > LINES_SHOWN ? ` and ${lines.length - LINES_SHOWN} more` : '';
      return `  ${lines.length} ×  ${reason} (line ${shown}${more})`;
    });
    const others = this.#all - this.#counted;
    return [...rows, ...(others > 0 ? [`  ${others} ×  other lines`] : [])].join('\n');
  }
}

interface Source {
  lines: AsyncIterable<string>;
  readBytes(): number;
  /** `null`: standard input, whose length nobody knows. */
  bytes: number | null;
}

const linesOf = (input: Readable) => createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });

function standardInput(): Source {
  return { lines: linesOf(process.stdin), readBytes: () => 0, bytes: null };
}

/** Reads the first bytes, so that a directory or a missing file is reported before anything is sent. */
async function opened(path: string): Promise<Source> {
  const stream = createReadStream(path, 'utf8');
  try {
    await once(stream, 'readable');
    const { size } = await stat(path);
    return { lines: linesOf(stream), readBytes: () => stream.bytesRead, bytes: size };
  } catch (error) {
    throw new CallError(
      `${path} cannot be read. Check the path. ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** `30d`, or a date, as a time of the API. @throws CommandError */
export function expiryOf(text: string): string {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() + Number(count) * UNIT_MS[unit]!).toISOString();
  if (epochMsOf(text) === null) throw new CommandError('--expiry is a date like 2027-01-31T00:00:00Z, or 30d, 12h.');
  return text;
}
