/**
 * Rules as people keep them in files: CSV, NDJSON, and plain lists of addresses, prefixes and AS numbers
 * with comments, as block lists are published. Reading yields one entry per line that says
 * something; whether it is a rule is checked later, where every rule is checked.
 */
import { csvLine, csvRecords } from './csv.ts';
import type { EdgeRuleCanonical } from '../../../../contract/management/edge-rule.ts';

export const ruleFileFormats = ['csv', 'ndjson', 'list'] as const;
export type RuleFileFormat = (typeof ruleFileFormats)[number];

/** Columns of a CSV file without a heading, and of an exported one. */
export const csvColumns = ['type', 'value', 'verdict', 'mode', 'expiry', 'rollout', 'note'] as const;

/** An entry as it stands in the file: a rule to be checked, or why it is none. */
export type RuleFileEntry = { line: number; rule: Record<string, unknown> } | { line: number; reason: string };

/** By the first line that says something: a JSON object, a line with commas, else a plain list. */
export function detectFormat(text: string): RuleFileFormat {
  for (const line of lines(text)) {
    const said = withoutComment(line.text);
    if (said === '') continue;
    if (said.startsWith('{')) return 'ndjson';
    return said.includes(',') ? 'csv' : 'list';
  }
  return 'list';
}

/** `columns`: heading of a CSV file that was sent in pieces; without it the first record may be one. */
export function* ruleFileEntries(
  text: string,
  format: RuleFileFormat,
  columns?: readonly string[],
): Generator<RuleFileEntry> {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (format === 'csv') yield* csvEntries(content, columns);
  else if (format === 'ndjson') yield* ndjsonEntries(content);
  else yield* listEntries(content);
}

/** One rule in a file's format; in a plain list what it cannot say becomes a comment. */
export function ruleFileLine(rule: EdgeRuleCanonical, format: RuleFileFormat): string {
  const { type, value, verdict, mode, expiry, rollout, note } = rule;
  if (format === 'csv') return csvLine([type, value, verdict, mode, expiry ?? '', String(rollout), note ?? '']);
  if (format === 'ndjson') return JSON.stringify({ type, value, verdict, mode, expiry, rollout, note });
  if (type !== 'ip' && type !== 'ipMask' && type !== 'asn') return `# left out, a list has no ${type}: ${value}`;
  if (mode !== 'enforce' || expiry !== null || rollout !== 100) {
    return `# left out, a list has no mode, expiry or rollout: ${value}`;
  }
  const remark = note === null ? '' : ` # ${note.replaceAll(/\s+/g, ' ')}`;
  return `${type === 'asn' ? 'AS' : ''}${value}${remark}`;
}

function* csvEntries(text: string, columns: readonly string[] | undefined): Generator<RuleFileEntry> {
  let names: readonly string[] | undefined = columns;
  for (const { line, fields, error } of csvRecords(text)) {
    if (fields.length === 1 && withoutComment(fields[0] ?? '') === '') continue;
    if (!names && isHeading(fields)) {
      names = fields.map((name) => name.trim());
      continue;
    }
    names ??= csvColumns;
    if (error !== undefined) yield { line, reason: error };
    else if (fields.length > names.length)
      yield { line, reason: `has ${fields.length} fields for ${names.length} columns` };
    else yield { line, rule: csvRule(names, fields) };
  }
}

export function isHeading(fields: readonly string[]): boolean {
  return fields.includes('type') && fields.includes('value');
}

/** An empty field is an absent member. */
function csvRule(names: readonly string[], fields: readonly string[]): Record<string, unknown> {
  const members = fields.map((field, index): [string, string] => [names[index] ?? '', field]);
  return Object.fromEntries(members.filter(([, field]) => field !== ''));
}

function* ndjsonEntries(text: string): Generator<RuleFileEntry> {
  for (const { line, text: said } of lines(text)) {
    if (said.trim() === '') continue;
    const rule = parsedObject(said);
    yield rule ? { line, rule } : { line, reason: 'is not a JSON object' };
  }
}

function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function* listEntries(text: string): Generator<RuleFileEntry> {
  for (const { line, text: whole } of lines(text)) {
    const said = withoutComment(whole);
    if (said === '') continue;
    if (/\s/.test(said)) yield { line, reason: 'holds more than one value' };
    else if (/^as\d+$/i.test(said)) yield { line, rule: { type: 'asn', value: said } };
    else yield { line, rule: { type: said.includes('/') ? 'ipMask' : 'ip', value: said } };
  }
}

/** `#` and `;` begin a comment at the start of a line or after a blank. */
export function withoutComment(line: string): string {
  return line.replace(/(^|\s)[#;].*$/s, '').trim();
}

function* lines(text: string): Generator<{ line: number; text: string }> {
  let line = 0;
  let at = 0;
  while (at < text.length) {
    let end = text.indexOf('\n', at);
    if (end === -1) end = text.length;
    line += 1;
    yield { line, text: text.slice(at, end).replace(/\r$/, '') };
    at = end + 1;
  }
}
