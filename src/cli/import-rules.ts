/**
 * `gatehouse rules import`: a file of any length is sent in pieces of 10,000 lines, so neither side keeps it in memory.
 * Progress and a summary of the skipped lines go to standard error. A dry run says what would change, and changes
 * nothing. What the service refuses in the middle is taken back.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { EDGE_RULES_PER_CALL_MAX } from '../contract/management/edge-rule-limits.ts';
import { rulePieces, type RulePiece } from '../contract/management/rule-file/rule-pieces.ts';
import type { Given } from './command.ts';
import { expiryOf } from './flag-values.ts';
import { CallError, callService, type ResponseAt, type ServiceTarget } from './management-call.ts';

const RULES = '/protect/access-rules';
const REASONS_SHOWN = 10;
const LINES_SHOWN = 3;
const HOUR_MS = 3_600_000;

type Accepted = Pick<
  ResponseAt<'/protect/access-rules/import'>,
  'created' | 'updated' | 'unchanged' | 'skipped' | 'skippedLines'
>;

interface Imported extends Omit<Accepted, 'skippedLines'> {
  lines: number;
  /** Of the rules after it; absent in a dry run. */
  version?: number;
}

/** @throws CallError when nothing is imported. */
export async function importRules(given: Given): Promise<Imported> {
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
  target: ServiceTarget,
  body: object,
  { lastLine }: RulePiece,
  undo: ImportUndo,
  total: Imported,
): Promise<Accepted> {
  const response = await callService(target, `${RULES}/import`, body).catch(async (error: unknown) => {
    throw await undo.after(error);
  });
  undo.accepted(lastLine, response.version, response.created + response.updated > 0);
  total.version = response.version;
  return response;
}

/** A preview of no requests: only what the rules would change. */
async function planned(target: ServiceTarget, body: object): Promise<Accepted> {
  const at = Date.now() - HOUR_MS;
  const { plan, refusedLines } = await callService(target, `${RULES}/preview`, { ...body, since: at, until: at });
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

/**
 * Takes an import back that the service refuses in the middle, for example where its rules would exceed a limit: a file
 * is sent in pieces, and a part of a block list is worse than none. Versions of other writers are never undone.
 */
export class ImportUndo {
  readonly #target: ServiceTarget;
  /** The version before the first change, and the versions that this import has made. */
  #before = 0;
  #made = 0;
  #lastLine = 0;

  constructor(target: ServiceTarget) {
    this.#target = target;
  }

  /** A piece up to `lastLine` was accepted. `version` is the version of the rules after it. */
  accepted(lastLine: number, version: number, isChange: boolean): void {
    this.#lastLine = lastLine;
    if (!isChange) return;
    if (this.#made === 0) this.#before = version - 1;
    this.#made += 1;
  }

  /** The error to show instead of `error`, after what can be undone is undone. */
  async after(error: unknown): Promise<unknown> {
    if (this.#made === 0 || !(error instanceof CallError)) return error;
    if (error.isRefusal && (await this.#isTakenBack())) {
      return new CallError(`Nothing was imported; lines 1 to ${this.#lastLine} were taken back. ${error.message}`);
    }
    return new CallError(
      `Lines 1 to ${this.#lastLine} are imported, the others are not. Import the file again to continue, or see ` +
        `"rules history" and undo it with "rules rollback ${this.#before}". ${error.message}`,
    );
  }

  async #isTakenBack(): Promise<boolean> {
    try {
      const { version } = await callService(this.#target, `${RULES}/history`, { limit: 1 });
      // Someone else wrote meanwhile: their changes would be undone too.
      if (version !== this.#before + this.#made) return false;
      await callService(this.#target, `${RULES}/rollback`, { version: this.#before });
      return true;
    } catch {
      return false;
    }
  }
}
