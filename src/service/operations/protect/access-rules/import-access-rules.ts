/**
 * `POST /protect/access-rules/import`: rules from the text of a file. Unlike in create, a bad line does not refuse the
 * others: it is skipped and reported with its number and reason. Importing the same file again changes nothing. Long
 * files come in pieces of 10,000 rules; `gatehouse rules import` does that.
 */
import * as z from 'zod/mini';
import { EDGE_RULES_PER_CALL_MAX } from '../../../../contract/management/edge-rule-limits.ts';
import { EDGE_RULE_ERRORS_LISTED_MAX, edgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import type { RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { ifVersion } from '../../stale-write.ts';
import { checkedRule, distinctRules, EXPIRY_IN_THE_PAST } from './check-rules.ts';
import { instanceRuleBook, refusedWrite, siteKey } from './instance-rule-book.ts';
import { detectFormat, ruleFileEntries, ruleFileFormats } from '../../../../contract/management/rule-file/rule-file.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const COLUMNS_MAX = 32;

const body = z.strictObject({
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
  /** The version that this change was made for. If it is another one by now, nothing changes: 409. */
  ifVersion,
  siteKey,
});

export const importAccessRules = operation({
  name: 'import-access-rules',
  method: 'POST',
  path: '/protect/access-rules/import',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Import edge access rules from CSV, NDJSON or a plain list',
  maxBodyBytes: MAX_BODY_BYTES,
  body,
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
    // Lines may be over already, because an export has such rules.
    if (typeof given.expiry === 'string' && Date.parse(given.expiry) <= context.nowMs) {
      const details = [{ path: 'expiry', message: EXPIRY_IN_THE_PAST }];
      throw new OperationError('API.INVALID_BODY', 'The rules of this import would never match', details);
    }
    const { book } = await instanceRuleBook(context, given.siteKey);
    const format = given.format ?? detectFormat(given.content);
    const { rules, skipped, skippedLines } = readRules(given, format);
    const outcome = await book.upsert(rules, {
      nowMs: context.nowMs,
      actor: context.principal.id,
      kind: 'import',
      ifVersion: given.ifVersion,
    });
    if (!outcome.ok) throw refusedWrite(outcome.error);
    const { created, updated, version } = outcome.value;
    const unchanged = distinctRules(rules) - created - updated;
    return { format, created, updated, unchanged, skipped, skippedLines, version };
  },
});

function readRules(given: z.infer<typeof body>, format: (typeof ruleFileFormats)[number]) {
  const { verdict, mode, expiry, note } = given;
  const defaults = Object.fromEntries(
    Object.entries({ verdict, mode, expiry, note }).filter(([, value]) => value !== undefined),
  );
  const rules: RuleWrite[] = [];
  const skippedLines: { line: number; reason: string }[] = [];
  let skipped = 0;
  for (const entry of ruleFileEntries(given.content, format, given.columns)) {
    const checked = 'rule' in entry ? checkedRule({ ...defaults, ...entry.rule }) : null;
    if (checked?.ok) {
      rules.push(checked.value);
      if (rules.length > EDGE_RULES_PER_CALL_MAX) {
        throw new OperationError(
          'API.TOO_MANY_ITEMS',
          `content has more than ${EDGE_RULES_PER_CALL_MAX} rules; send it in pieces`,
        );
      }
      continue;
    }
    skipped += 1;
    if (skipped > EDGE_RULES_PER_CALL_MAX) {
      throw new OperationError(
        'API.TOO_MANY_ITEMS',
        `content has more than ${EDGE_RULES_PER_CALL_MAX} lines that are not rules; check the format, which is ${format}`,
      );
    }
    if (skippedLines.length >= EDGE_RULE_ERRORS_LISTED_MAX) continue;
    const reason = checked
      ? `${checked.error.field} ${checked.error.reason}`.trim()
      : 'reason' in entry
        ? entry.reason
        : '';
    skippedLines.push({ line: entry.line + given.firstLine - 1, reason });
  }
  return { rules, skipped, skippedLines };
}
