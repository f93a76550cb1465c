/**
 * Reads a list in one of its formats, as a stream and within bounds. What comes back is whole: a document that is empty,
 * a web page, or mostly something else is an error, so that the last good list stays in force.
 */
import { csvField } from '../bytes/csv.ts';
import { readBounded } from '../bytes/read-bounded.ts';
import { discard } from '../bytes/within-time.ts';
import { failed, ok, type Result } from '../result.ts';
import type { SortedEntries } from './entry-set.ts';
import { readLines } from './lines.ts';
import {
  ENTRIES_MAX,
  JSON_MAX_BYTES,
  JSON_VALUES_MAX,
  LIST_MAX_BYTES,
  type ListError,
  type ListFormat,
  type ListReading,
  type ReadingReport,
} from './list-format.ts';
import { ValueReader } from './read-value.ts';
import { parseSelector, selectValues } from './selector.ts';

export interface ReadList {
  entries: SortedEntries;
  report: ReadingReport;
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];

type LineTaker = (line: string, number: number) => ListError | null;

export async function readList(
  stream: ReadableStream<Uint8Array>,
  { format, column = '', selector = '', includeReserved = false }: ListReading & { format: PlainFormat },
): Promise<Result<ReadList, ListError>> {
  const values = new ValueReader(includeReserved);
  if (format === 'json') {
    const error = await readDocument(stream, selector, values);
    return error === null ? wholeList(values) : failed(error);
  }
  const take = takers[format](values, format === 'csv' ? column : selector);
  let error: ListError | null = null;
  let isFirst = true;
  const read = await readLines(stream, LIST_MAX_BYTES, (whole, number) => {
    const line = (number === 1 ? whole.replace(/^\uFEFF/, '') : whole).trim();
    if (line === '') return true;
    if (isFirst && line.startsWith('<')) error = { kind: 'is-html' };
    isFirst = false;
    error ??= take(line, number) ?? values.excess;
    return error === null;
  });
  if (!read.ok) return failed({ kind: read.error });
  return error === null ? wholeList(values) : failed(error);
}

type PlainFormat = Exclude<ListFormat, 'crowdsec'>;

function wholeList({ entries, report }: ValueReader): Result<ReadList, ListError> {
  const { lines, notUnderstood } = report;
  if (lines === 0) return failed({ kind: 'is-empty' });
  if (2 * notUnderstood > lines) return failed({ kind: 'not-a-list', notUnderstood, lines });
  if (entries.size === 0) return failed({ kind: 'is-empty' });
  return ok({ entries: entries.sorted(), report });
}

const takers: Record<Exclude<PlainFormat, 'json'>, (values: ValueReader, where: string) => LineTaker> = {
  text: textLines,
  csv: csvLines,
  ndjson: ndjsonLines,
};

function textLines(values: ValueReader): LineTaker {
  return (whole, number) => {
    const text = withoutComment(whole);
    if (text === '') return null;
    values.read(firstValue(text), number);
    return null;
  };
}

/** What follows a value is a remark, such as how often it was seen. A range may have spaces around its dash. */
function firstValue(text: string): string {
  const first = text.split(/\s/, 1)[0]!;
  const rest = text.slice(first.length).trim();
  if (!rest.startsWith('-') && !first.endsWith('-')) return first;
  return `${first}${rest.replace(/^-\s*/, '-').split(/\s/, 1)[0]!}`;
}

/** `#` and `;` start a comment anywhere, and so does `//`: no entry has them. */
function withoutComment(line: string): string {
  let end = line.length;
  for (const mark of ['#', ';', '//']) {
    const at = line.indexOf(mark);
    if (at >= 0 && at < end) end = at;
  }
  return line.slice(0, end).trim();
}

/** A column by number has no heading. */
function csvLines(values: ValueReader, name: string): LineTaker {
  let column = /^[1-9]\d?$/.test(name) ? Number(name) - 1 : -1;
  const isAsn = isAsnName(name);
  return (given, number) => {
    if (given.startsWith('#')) return null;
    // A carriage return inside a line ends no record here.
    const line = given.replaceAll('\r', ' ');
    if (column < 0) {
      column = columnOf(line, name);
      return column < 0 ? { kind: 'no-column', column: name } : null;
    }
    const field = columnAt(line, column);
    if (field === null || field === '') values.refuse(line, number, 'has no value in this column');
    else if (isAsn && /^\d+$/.test(field)) values.readAsn(field, number);
    else values.read(field, number);
    return null;
  };
}

function ndjsonLines(values: ValueReader, selector: string): LineTaker {
  const steps = parseSelector(selector);
  return (line, number) => {
    if (!steps.ok) return { kind: 'no-selector', selector };
    let document: unknown;
    try {
      document = JSON.parse(line);
    } catch {
      values.refuse(line, number, 'is not JSON');
      return null;
    }
    const take = (value: unknown): void => readJsonValue(values, value, selector, number);
    if (!selectValues(document, steps.value, take)) values.refuse(line, number, `has no ${selector}`);
    return null;
  };
}

async function readDocument(
  stream: ReadableStream<Uint8Array>,
  selector: string,
  values: ValueReader,
): Promise<ListError | null> {
  const steps = parseSelector(selector);
  if (!steps.ok) {
    discard(stream);
    return { kind: 'no-selector', selector };
  }
  const read = await readBounded(stream, JSON_MAX_BYTES, { timeoutMs: null });
  if (!read.ok) return { kind: read.error.kind === 'too-large' ? 'too-large' : 'broke-off' };
  if (!hasFewValues(read.value)) return { kind: 'too-many-values' };
  const text = new TextDecoder().decode(read.value).trim();
  if (text === '') return { kind: 'is-empty' };
  if (text.startsWith('<')) return { kind: 'is-html' };
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { kind: 'not-json' };
  }
  let number = 0;
  const found = selectValues(document, steps.value, (value) => {
    number += 1;
    if (!values.isTooMany) readJsonValue(values, value, selector, number);
  });
  if (!found) return { kind: 'no-selector', selector };
  return number > ENTRIES_MAX ? { kind: 'too-many' } : values.excess;
}

/** Each value follows one of these bytes, in a text perhaps too. Parsed, an empty object takes thirty times its text. */
function hasFewValues(bytes: Uint8Array): boolean {
  let values = 0;
  for (const byte of bytes) if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
  return values <= JSON_VALUES_MAX;
}

function readJsonValue(values: ValueReader, value: unknown, selector: string, number: number): void {
  if (typeof value === 'string') values.read(value.trim(), number);
  else if (typeof value === 'number' && isAsnName(selector)) values.readAsn(String(value), number);
  else values.refuse(typeof value === 'number' ? String(value) : typeof value, number, 'is not a text');
}

/** A bare number is an AS number only where the operator says so: some files write addresses as numbers. */
function isAsnName(name: string): boolean {
  return /(?:^|[._[\]])(?:asn?|as_?number)(?:\[\])?$/i.test(name);
}

/** One column of a CSV line. Lists have no line ends inside quotes, so each line is read alone, in one pass. */
function columnAt(line: string, column: number): string | null {
  let at = 0;
  for (let field = 0; ; field += 1) {
    const { value, end } = csvField(line, at);
    if (field === column) return value.trim();
    if (end >= line.length) return null;
    at = end + 1;
  }
}

/** The place of a named column in a heading; -1 when it has none. Names are compared without case. */
function columnOf(heading: string, name: string): number {
  const wanted = name.trim().toLowerCase();
  for (let column = 0; ; column += 1) {
    const field = columnAt(heading, column);
    if (field === null) return -1;
    if (field.toLowerCase() === wanted) return column;
  }
}
