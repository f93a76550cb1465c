/**
 * Sends a rule file in pieces of 10,000 lines. Each piece is applied whole or not at all; the import can stop between
 * two of them.
 */
import { call, type Refusal } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { EDGE_RULES_PER_CALL_MAX } from '../../../contract/management/edge-rule-limits.ts';
import { type RulePiece, rulePieces } from '../../../contract/management/rule-file/rule-pieces.ts';
import { failed, ok, type Result } from '../../../result.ts';

export interface ImportProgress {
  /** Lines sent so far, and in all. */
  lines: number;
  linesTotal: number;
  created: number;
  updated: number;
  unchanged: number;
  skipped: number;
  /** The version of the rules after the last piece. */
  version: number | null;
  /** The version before the first piece; for a rollback. */
  versionBefore: number;
}

export interface RefusedLine {
  line: number;
  reason: string;
  text: string;
}

/** Kept for the file of refused lines. More are only counted. */
const REFUSED_KEPT_MAX = 100_000;

export interface ImportOptions {
  site: { siteKey?: string };
  text: string;
  /** For lines that name none. */
  verdict: 'allow' | 'challenge' | 'block';
  note: string;
  versionBefore: number;
  /** Goes on after the lines that an import which stopped has sent. */
  after: ImportProgress | null;
  onProgress: (progress: ImportProgress) => void;
  onRefused: (lines: readonly RefusedLine[]) => void;
  signal: AbortSignal;
}

/**
 * The progress at the end. A piece that was refused changed nothing; the pieces before it stay. One whose response was
 * lost may have been applied. Sending it again is safe: a rule that is there already is counted as unchanged.
 */
export async function importRuleFile(options: ImportOptions): Promise<Result<ImportProgress, Refusal>> {
  const { site, text, verdict, note, signal } = options;
  const lines = linesOfFile(text);
  let progress: ImportProgress = options.after ?? {
    lines: 0,
    linesTotal: lines.length,
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    version: null,
    versionBefore: options.versionBefore,
  };
  const done = progress.lines;
  let kept = Math.min(progress.skipped, REFUSED_KEPT_MAX);
  options.onProgress(progress);
  for await (const piece of rulePieces(each(lines), undefined, EDGE_RULES_PER_CALL_MAX)) {
    if (signal.aborted) break;
    if (piece.lastLine <= done) continue;
    const answer = await call('/protect/access-rules/import', {
      ...site,
      ...bodyOfPiece(piece),
      // A file with columns may name a verdict in each line.
      verdict,
      ...(note === '' ? {} : { note }),
    } as RequestOf<'/protect/access-rules/import'>);
    if (!answer.ok) return failed(answer.error);
    const { created, updated, unchanged, skipped, skippedLines, version } = answer.value;
    progress = {
      ...progress,
      lines: piece.lastLine,
      created: progress.created + created,
      updated: progress.updated + updated,
      unchanged: progress.unchanged + unchanged,
      skipped: progress.skipped + skipped,
      version,
    };
    const room = skippedLines.slice(0, Math.max(0, REFUSED_KEPT_MAX - kept));
    kept += room.length;
    options.onRefused(room.map(({ line, reason }) => ({ line, reason, text: lines[line - 1] ?? '' })));
    options.onProgress(progress);
  }
  return ok(progress);
}

export function linesOfFile(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

export function bodyOfPiece({ content, firstLine, format, columns }: RulePiece) {
  return {
    content,
    firstLine,
    ...(format === undefined ? {} : { format }),
    ...(columns === undefined ? {} : { columns }),
  };
}

/** What a person corrects and imports again: each line as it was, with the reason before it as a comment. */
export function refusedFile(refused: readonly RefusedLine[]): string {
  return refused.map(({ line, reason, text }) => `# line ${line}: ${reason}\n${text}\n`).join('');
}
