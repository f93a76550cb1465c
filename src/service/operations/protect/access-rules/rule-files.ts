/** Edge access rules as files. */
import * as z from 'zod/mini';
import { EDGE_RULES_PER_CALL_MAX } from '../../../../contract/management/edge-rule-limits.ts';
import { EDGE_RULE_ERRORS_LISTED_MAX, edgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import {
  csvColumns,
  detectFormat,
  ruleFileEntries,
  type RuleFileEntry,
  type RuleFileFormat,
  ruleFileFormats,
  ruleFileLine,
} from '../../../../contract/management/rule-file/rule-file.ts';
import { decisions, edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import type { RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';
import { checkedRule, distinctRules, EXPIRY_IN_THE_PAST } from './check-rules.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { ifVersion } from '../../stale-write.ts';
import { noteRules } from './note-rules.ts';
import { chosenSiteKey, instanceRuleBook, refusedWrite } from '../chosen-instance.ts';
import { canonicalRule } from './rule-response.ts';
import { streamRules } from './stream-rules.ts';

const COLUMNS_MAX = 32;

/** What a file is sent with. */
export const ruleFileFields = {
  content: z.string().check(z.minLength(1)),
  /** Default: detected from the first line that is not empty or a comment. */
  format: z.optional(z.enum(ruleFileFormats)),
  /** For lines without a verdict. A plain list needs it. */
  verdict: z.optional(z.enum(decisions)),
  mode: edgeRuleInput.shape.mode,
  /** For lines without an expiry. */
  expiry: edgeRuleInput.shape.expiry,
  note: edgeRuleInput.shape.note,
  /** For a file in pieces: the number of this piece's first line, and the CSV heading of the file. */
  firstLine: z._default(z.int().check(z.gte(1)), 1),
  columns: z.optional(z.array(z.string().check(z.maxLength(64))).check(z.minLength(2), z.maxLength(COLUMNS_MAX))),
};
type GivenRuleFile = z.infer<z.ZodMiniObject<typeof ruleFileFields>>;

export interface RuleFile {
  format: RuleFileFormat;
  rules: RuleWrite[];
  refused: number;
  refusedLines: { line: number; reason: string }[];
}

/**
 * The rules of a file's text, for import and preview: good lines as rules, the others with their number and reason.
 * @throws OperationError 413 above the limits, 400 for an expiry that has passed.
 */
export function readRuleFile(
  file: GivenRuleFile,
  limits: { rulesMax: number; refusedListedMax: number },
  nowMs: number,
): RuleFile {
  const { verdict, mode, expiry, note } = file;
  // Lines may be over already, because an export has such rules.
  if (typeof expiry === 'number' && expiry <= nowMs) {
    throw new OperationError('API.INVALID_BODY', 'The rules of this file would never match', [
      { path: 'expiry', message: EXPIRY_IN_THE_PAST },
    ]);
  }
  const defaults = Object.fromEntries(
    Object.entries({ verdict, mode, expiry, note }).filter(([, value]) => value !== undefined),
  );
  const read: RuleFile = { format: file.format ?? detectFormat(file.content), rules: [], refused: 0, refusedLines: [] };
  for (const entry of ruleFileEntries(file.content, read.format, file.columns)) {
    const outcome = ruleOf(entry, defaults);
    if (typeof outcome !== 'string') {
      read.rules.push(outcome);
      if (read.rules.length > limits.rulesMax) {
        const message = `content has more than ${limits.rulesMax} rules; send it in pieces`;
        throw new OperationError('API.TOO_MANY_ITEMS', message);
      }
      continue;
    }
    read.refused += 1;
    if (read.refused > EDGE_RULES_PER_CALL_MAX) {
      const message = `content has more than ${EDGE_RULES_PER_CALL_MAX} lines that are not rules; check the format, which is ${read.format}`;
      throw new OperationError('API.TOO_MANY_ITEMS', message);
    }
    if (read.refusedLines.length >= limits.refusedListedMax) continue;
    read.refusedLines.push({ line: entry.line + file.firstLine - 1, reason: outcome });
  }
  return read;
}

/** The rule, or why the line is none. */
function ruleOf(entry: RuleFileEntry, defaults: Record<string, unknown>): RuleWrite | string {
  if ('reason' in entry) return entry.reason;
  const checked = checkedRule({ ...defaults, ...entry.rule });
  return checked.ok ? checked.value : `${checked.error.field} ${checked.error.reason}`.trim();
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;

const mediaTypes: Record<RuleFileFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  list: 'text/plain; charset=utf-8',
};

export const accessRuleFileOperations: readonly Operation[] = [
  /**
   * Rules from the text of a file. Unlike in create, a bad line does not refuse the others: it is skipped and reported
   * with its number and reason. Importing the same file again changes nothing. Long files come in pieces of 10,000
   * rules; `gatehouse rules import` does that.
   */
  protectOperation({
    name: 'import-access-rules',
    path: '/protect/access-rules/import',
    access: 'write',
    summary: 'Import edge access rules from CSV, NDJSON or a plain list',
    maxBodyBytes: MAX_BODY_BYTES,
    body: z.strictObject({
      ...ruleFileFields,
      /** The version that this change was made for. If it is another one by now, nothing changes: 409. */
      ifVersion,
      siteKey: chosenSiteKey,
    }),
    response: z.object({
      format: z.enum(ruleFileFormats),
      created: z.int(),
      updated: z.int(),
      unchanged: z.int(),
      skipped: z.int(),
      /** The first 100. */
      skippedLines: z.array(z.object({ line: z.int(), reason: z.string() })),
      version: z.int(),
    }),
    async handler({ body: given, ...context }) {
      const { book } = await instanceRuleBook(context, given.siteKey);
      const limits = { rulesMax: EDGE_RULES_PER_CALL_MAX, refusedListedMax: EDGE_RULE_ERRORS_LISTED_MAX };
      const { format, rules, refused, refusedLines } = readRuleFile(given, limits, context.nowMs);
      const outcome = await book.upsert(rules, {
        nowMs: context.nowMs,
        actor: context.principal.id,
        kind: 'import',
        ifVersion: given.ifVersion,
      });
      if (!outcome.ok) throw refusedWrite(outcome.error);
      noteRules(context, outcome.value);
      const { created, updated, version } = outcome.value;
      const unchanged = distinctRules(rules) - created - updated;
      return { format, created, updated, unchanged, skipped: refused, skippedLines: refusedLines, version };
    },
  }),
  /**
   * Every rule that matches a filter, streamed as a file that `import` reads back to the same rules. A plain list has
   * no verdicts, so it can have the rules of one verdict only.
   */
  protectOperation({
    name: 'export-access-rules',
    path: '/protect/access-rules/export',
    access: 'read',
    summary: 'Export edge access rules as CSV, NDJSON or a plain list',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      format: z._default(z.enum(ruleFileFormats), 'ndjson'),
      type: z.optional(z.enum(edgeRuleTypes)),
      verdict: z.optional(z.enum(decisions)),
    }),
    response: z.string(),
    responseTypes: ['text/csv', 'application/x-ndjson', 'text/plain'],
    async handler({ body: { format, type, verdict, siteKey: wanted }, ...context }) {
      if (format === 'list' && verdict === undefined) {
        throw new OperationError('API.INVALID_BODY', 'A plain list has no verdicts: name the verdict to export', [
          { path: 'verdict', message: 'is required with the format list' },
        ]);
      }
      const { book } = await instanceRuleBook(context, wanted);
      const filter = { ...(type === undefined ? {} : { type }), ...(verdict === undefined ? {} : { verdict }) };
      const { head, parts } = await streamRules(book, filter, undefined, (rule) =>
        ruleFileLine(canonicalRule(rule), format),
      );
      const body = parts({ before: heading(format, verdict, head.total), between: '\n', after: '\n' });
      return new Response(body, {
        headers: {
          'content-type': mediaTypes[format],
          'content-disposition': `attachment; filename="access-rules.${format === 'list' ? 'txt' : format}"`,
          'cache-control': 'no-store',
        },
      });
    },
  }),
];

function heading(format: RuleFileFormat, verdict: string | undefined, total: number): string {
  if (format === 'csv') return `${csvColumns.join(',')}\n`;
  return format === 'list' ? `# ${total} rules, verdict ${verdict}\n` : '';
}
