/**
 * Cuts a rule file into pieces that the service can read alone. It never cuts a quoted CSV field that spans lines, and
 * gives each piece of a CSV file the columns of the heading, which only the first piece contains.
 */
import { detectFormat, isHeading, type RuleFileFormat, withoutComment } from './rule-file.ts';
import { csvRecords } from '../../../bytes/csv.ts';

export interface RulePiece {
  format: RuleFileFormat | undefined;
  content: string;
  /** Line numbers in the whole file, from 1. */
  firstLine: number;
  lastLine: number;
  columns: string[] | undefined;
}

/** A piece is sent before it grows beyond this, well under the service's body limit. */
const PIECE_MAX_CHARS = 8_000_000;

/** `wanted`: the format as the user typed it. The service refuses an unknown one. */
export async function* rulePieces(
  lines: AsyncIterable<string>,
  wanted: string | undefined,
  maxLines: number,
): AsyncGenerator<RulePiece> {
  let format = wanted as RuleFileFormat | undefined;
  let columns: string[] | undefined;
  let part: string[] = [];
  let chars = 0;
  let firstLine = 1;
  let line = 0;
  let quoteOpen = false;
  const piece = (): RulePiece => ({ format, content: part.join('\n'), firstLine, lastLine: line, columns });

  for await (const text of lines) {
    line += 1;
    if (withoutComment(text) !== '') format ??= detectFormat(text);
    part.push(text);
    chars += text.length + 1;
    // Doubled quotes inside a field are an even number as well, so they do not change the result.
    if (text.split('"').length % 2 === 0) quoteOpen = !quoteOpen;
    const whole = format !== 'csv' || !quoteOpen;
    if ((part.length < maxLines && chars < PIECE_MAX_CHARS) || (!whole && chars < 2 * PIECE_MAX_CHARS)) continue;
    yield piece();
    if (format === 'csv') columns ??= headingOf(part);
    part = [];
    chars = 0;
    firstLine = line + 1;
  }
  if (part.length > 0) yield piece();
}

function headingOf(part: readonly string[]): string[] | undefined {
  for (const { fields } of csvRecords(part.slice(0, 100).join('\n'))) {
    if (fields.length > 1) return isHeading(fields) ? fields.map((name) => name.trim()) : undefined;
  }
  return undefined;
}
