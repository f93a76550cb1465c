/**
 * Rules in files: CSV, NDJSON, and plain lists with comments, as block lists of addresses, prefixes and AS numbers are
 * published. Reading gives one entry per line that is not empty or a comment. Whether an entry is a valid rule is
 * checked later, in the same place as every rule.
 */
import { csvLine, csvRecords } from '../../../bytes/csv.ts';
import { isJsonObject, parseJson } from '../../../bytes/json.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { EdgeRuleType } from '../../vocabulary.ts';
import type { EdgeRuleCanonical } from '../edge-rule.ts';

export const ruleFileFormats = ['csv', 'ndjson', 'list'] as const;
export type RuleFileFormat = (typeof ruleFileFormats)[number];

/** Columns of a CSV file without a heading, and of an exported one. */
export const csvColumns = ['type', 'value', 'verdict', 'mode', 'expiry', 'rollout', 'note'] as const;

/** An entry of a file: a rule that must still be checked, or the reason why it is not a rule. */
export type RuleFileEntry = { line: number; rule: Record<string, unknown> } | { line: number; reason: string };

/** From the first line that is not empty or a comment: a JSON object, a line with commas, or else a plain list. */
export function detectFormat(text: string): RuleFileFormat {
  for (const line of lines(text)) {
    const said = withoutComment(line.text);
    if (said === '') continue;
    if (said.startsWith('{')) return 'ndjson';
    return said.includes(',') ? 'csv' : 'list';
  }
  return 'list';
}

/** `columns`: the heading of a CSV file that is sent in pieces. Without it, the first record may be a heading. */
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

/** One rule in the format of a file. A rule that a plain list cannot express becomes a comment. */
export function ruleFileLine(rule: EdgeRuleCanonical, format: RuleFileFormat): string {
  const { type, value, verdict, mode, expiry, rollout, note } = rule;
  if (format === 'csv') return csvLine([type, value, verdict, mode, expiry ?? '', String(rollout), note ?? '']);
  if (format === 'ndjson') return JSON.stringify({ type, value, verdict, mode, expiry, rollout, note });
  if (type !== 'ip' && type !== 'ipMask' && type !== 'asn')
    return `# left out, because a list for other programs has no ${type}: ${value}`;
  if (mode !== 'enforce' || expiry !== null || rollout !== 100) {
    return `# left out, because a list has no mode, expiry or rollout: ${value}`;
  }
  const remark = note === null ? '' : ` # ${note.replaceAll(/\s+/g, ' ')}`;
  return `${type === 'asn' ? 'AS' : ''}${value}${remark}`;
}

function* csvEntries(text: string, columns: readonly string[] | undefined): Generator<RuleFileEntry> {
  let names: readonly string[] | undefined = columns;
  for (const { line, fields, error } of csvRecords(text)) {
    // Also of a heading: an open quote takes the rest of the file with it, and no rule may go unnoticed.
    if (error !== undefined) yield { line, reason: error };
    else if (fields.length === 1 && withoutComment(fields[0] ?? '') === '') continue;
    if (!names && isHeading(fields)) {
      names = fields.map((name) => name.trim());
      continue;
    }
    names ??= csvColumns;
    if (error !== undefined) continue;
    if (fields.length > names.length) yield { line, reason: `has ${fields.length} fields for ${names.length} columns` };
    else yield { line, rule: csvRule(names, fields) };
  }
}

export function isHeading(fields: readonly string[]): boolean {
  return fields.includes('type') && fields.includes('value');
}

/** An empty CSV field is an absent field of the rule. */
function csvRule(names: readonly string[], fields: readonly string[]): Record<string, unknown> {
  const named = fields.map((field, index): [string, string] => [names[index] ?? '', field]);
  return Object.fromEntries(named.filter(([, field]) => field !== ''));
}

function* ndjsonEntries(text: string): Generator<RuleFileEntry> {
  for (const { line, text: said } of lines(text)) {
    if (said.trim() === '') continue;
    const rule = parseJson(said);
    yield isJsonObject(rule) ? { line, rule } : { line, reason: 'is not a JSON object' };
  }
}

function* listEntries(text: string): Generator<RuleFileEntry> {
  for (const { line, text: whole } of lines(text)) {
    const said = withoutComment(whole);
    if (said === '') continue;
    const type = detectedType(said);
    yield type.ok ? { line, rule: { type: type.value, value: said } } : { line, reason: type.error };
  }
}

/** Shapes of values, the narrower before the wider. A user agent begins with a product and its version. */
const shapes: readonly (readonly [EdgeRuleType, RegExp])[] = [
  ['asn', /^as\d+$/i],
  ['ja4Hash', /^[a-z]\w{9}_[\da-f]{12}_[\da-f]{12}$/i],
  ['countryCode', /^(?:[a-z]{2}|t1)$/i],
  ['ipMask', /^[\da-f.:]+\/\d+$/i],
  ['userAgent', /^[a-z][\w.+!-]*\/v?\d/i],
  ['ipMask', /^[\da-f]*[.:]\S*\/\S*$/i],
  ['ip', /^[\da-f]*[.:]\S*$/i],
];

/** The type of a value by its shape, or why nobody can tell it: a phrase that follows the value. */
export function detectedType(value: string): Result<EdgeRuleType, string> {
  const shape = shapes.find(([, pattern]) => pattern.test(value));
  if (shape !== undefined) return ok(shape[0]);
  if (/\s/.test(value)) return failed('has more than one value');
  if (/^\d+$/.test(value)) return failed(`is only a number; write AS${value} for an AS number`);
  return failed(
    'is no address, network, AS number, country or JA4 fingerprint, and no user agent with a version such as curl/8.5',
  );
}

/** `#` and `;` start a comment, at the start of a line or after a space. */
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
