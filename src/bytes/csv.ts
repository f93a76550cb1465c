/**
 * CSV as in RFC 4180: fields in double quotes may have commas, line breaks and doubled quotes. Blanks may stand before a
 * quote. The reader of records is a generator with line numbers, so that a report can name the line. What the writer
 * writes reads back the same.
 *
 * A spreadsheet runs a field that begins with `=`, `+`, `-` or `@` as a formula, and rules have texts that visitors sent.
 * Such a field is written with an apostrophe before it, which the reader removes.
 */

/** Twice the columns that an import can name. A line of a million commas must not fill the memory. */
const FIELDS_MAX = 64;

/** With apostrophes before it that a rule may have itself. */
const FORMULA = /^'*[=+\-@\t\r]/;

export interface CsvRecord {
  /** Number of the record's first line, from 1. */
  line: number;
  fields: string[];
  /** Why the record cannot be read. */
  error?: string;
}

export function* csvRecords(text: string): Generator<CsvRecord> {
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const record: CsvRecord = { line, fields: [] };
    let more = true;
    while (more) {
      const field = csvField(text, at);
      if (record.fields.length < FIELDS_MAX) record.fields.push(withoutGuard(field.value));
      else record.error ??= `has more than ${FIELDS_MAX} fields`;
      if (field.error !== undefined) record.error ??= field.error;
      line += field.value.split('\n').length - 1;
      at = field.end;
      more = text[at] === ',';
      if (more) at += 1;
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    at += 1;
    line += 1;
    yield record;
  }
}

export function csvLine(fields: readonly string[]): string {
  return fields
    .map((field) => (FORMULA.test(field) ? `'${field}` : field))
    .map((field) => (/[",\r\n\t]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
}

function withoutGuard(field: string): string {
  return field.startsWith("'") && FORMULA.test(field) ? field.slice(1) : field;
}

interface CsvField {
  value: string;
  /** Position of the separator after the field. */
  end: number;
  error?: string;
}

/** The field that begins at `from`. What can be read of a field with an error is its value. */
export function csvField(text: string, from: number): CsvField {
  let start = from;
  while (text[start] === ' ') start += 1;
  return text[start] === '"' ? quotedField(text, start) : plainField(text, start);
}

const PLAIN = /[^,\r\n]*/y;

function plainField(text: string, start: number): CsvField {
  PLAIN.lastIndex = start;
  PLAIN.test(text);
  const end = PLAIN.lastIndex;
  return { value: text.slice(start, end).trim(), end };
}

function quotedField(text: string, start: number): CsvField {
  let value = '';
  let from = start + 1;
  while (true) {
    const quote = text.indexOf('"', from);
    if (quote === -1) {
      return { value: value + text.slice(from), end: text.length, error: 'has a quote that is not closed' };
    }
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const rest = plainField(text, quote + 1);
      const error = rest.value === '' ? {} : { error: 'has text after a closing quote' };
      return { value, end: rest.end, ...error };
    }
    value += '"';
    from = quote + 2;
  }
}
