/**
 * `POST /protect/access-rules/import`: rules from the text of a file. Unlike in create, a bad line does not refuse the
 * others: it is skipped and reported with its number and reason. Importing the same file again changes nothing. Long
 * files come in pieces of 10,000 rules; `gatehouse rules import` does that.
 */
import * as z from 'zod/mini';
import { EDGE_RULES_PER_CALL_MAX } from '../../../../contract/management/edge-rule-limits.ts';
import { EDGE_RULE_ERRORS_LISTED_MAX } from '../../../../contract/management/edge-rule.ts';
import { operation } from '../../define-operation.ts';
import { ifVersion } from '../../stale-write.ts';
import { distinctRules } from './check-rules.ts';
import { instanceRuleBook, refusedWrite, siteKey } from './instance-rule-book.ts';
import { readRuleFile, ruleFileFields } from './read-rule-file.ts';
import { ruleFileFormats } from '../../../../contract/management/rule-file/rule-file.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

const body = z.strictObject({
  ...ruleFileFields,
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
    const { created, updated, version } = outcome.value;
    const unchanged = distinctRules(rules) - created - updated;
    return { format, created, updated, unchanged, skipped: refused, skippedLines: refusedLines, version };
  },
});
