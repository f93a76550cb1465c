/** The rules of a file's text, for import and preview: good lines as rules, the others with their number and reason. */
import * as z from 'zod/mini';
import { EDGE_RULES_PER_CALL_MAX } from '../../../../contract/management/edge-rule-limits.ts';
import { edgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import {
  detectFormat,
  ruleFileEntries,
  type RuleFileEntry,
  type RuleFileFormat,
  ruleFileFormats,
} from '../../../../contract/management/rule-file/rule-file.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import type { RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';
import { checkedRule, EXPIRY_IN_THE_PAST } from './check-rules.ts';

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
const given = z.strictObject(ruleFileFields);
export type GivenRuleFile = z.infer<typeof given>;

export interface RuleFile {
  format: RuleFileFormat;
  rules: RuleWrite[];
  refused: number;
  refusedLines: { line: number; reason: string }[];
}

/** @throws OperationError 413 above the limits, 400 for an expiry that has passed. */
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
