/**
 * A batch of rules or conditions, checked item by item before anything is stored: each bad one is named by
 * index, field and reason (the first 100), and one bad one refuses the whole batch.
 */
import type { ErrorDetail } from '../../../../contract/errors.ts';
import {
  EDGE_RULES_PER_CALL_MAX,
  EDGE_RULE_ERRORS_LISTED_MAX,
  edgeRuleCondition,
  edgeRuleInput,
} from '../../../../contract/management/edge-rule.ts';
import type { EdgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import { canonicalValue } from '../../../../rules/canonical.ts';
import type { RuleKey, RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';

export type Checked<T> = { ok: true; item: T } | { ok: false; field: string; reason: string };

/** @throws OperationError 413 above the bulk limit, 400 with details when an item is not a rule. */
export function checkedRules(items: readonly unknown[]): RuleWrite[] {
  return checkedItems('rules', items, checkedRule);
}

/** @throws OperationError as `checkedRules`. */
export function checkedConditions(items: readonly unknown[]): RuleKey[] {
  return checkedItems('conditions', items, checkedCondition);
}

/** How many different rules a batch names; the last of several spellings of one counts. */
export function distinctRules(rules: readonly RuleKey[]): number {
  return new Set(rules.map((rule) => `${rule.type}:${rule.value}`)).size;
}

export function checkedRule(input: unknown): Checked<RuleWrite> {
  const parsed = edgeRuleInput.safeParse(input);
  if (!parsed.success) return refused(parsed.error.issues[0]);
  const canonical = canonicalValue(parsed.data.type, parsed.data.value);
  if (!canonical.ok) return { ok: false, field: 'value', reason: canonical.error };
  return { ok: true, item: ruleWrite(parsed.data, canonical.value) };
}

function checkedCondition(input: unknown): Checked<RuleKey> {
  const parsed = edgeRuleCondition.safeParse(input);
  if (!parsed.success) return refused(parsed.error.issues[0]);
  const canonical = canonicalValue(parsed.data.type, parsed.data.value);
  if (!canonical.ok) return { ok: false, field: 'value', reason: canonical.error };
  return { ok: true, item: { type: parsed.data.type, value: canonical.value } };
}

/** Members at their default are left out, so that spelling a default out changes nothing. */
function ruleWrite(input: EdgeRuleInput, value: string): RuleWrite {
  const { type, verdict, mode, expiry, rollout, note } = input;
  return {
    type,
    value,
    verdict,
    ...(mode === 'monitor' ? { mode } : {}),
    ...(expiry === undefined || expiry === null ? {} : { expiry: Math.floor(Date.parse(expiry) / 1000) }),
    ...(rollout === undefined || rollout === 100 ? {} : { rollout }),
    ...(note === undefined || note === null || note === '' ? {} : { note }),
  };
}

function checkedItems<T>(member: string, items: readonly unknown[], check: (item: unknown) => Checked<T>): T[] {
  if (items.length > EDGE_RULES_PER_CALL_MAX) {
    throw new OperationError(
      'API.TOO_MANY_ITEMS',
      `${member} holds ${items.length} items; at most ${EDGE_RULES_PER_CALL_MAX} in one call`,
    );
  }
  const good: T[] = [];
  const errors: ErrorDetail[] = [];
  for (const [index, item] of items.entries()) {
    const checked = check(item);
    if (checked.ok) good.push(checked.item);
    else if (errors.push(errorDetail(member, index, checked)) >= EDGE_RULE_ERRORS_LISTED_MAX) break;
  }
  if (errors.length > 0) {
    const more = errors.length >= EDGE_RULE_ERRORS_LISTED_MAX ? ` (the first ${errors.length} are listed)` : '';
    throw new OperationError('API.INVALID_RULES', `Some ${member} are not valid; nothing was stored${more}`, errors);
  }
  return good;
}

function errorDetail(member: string, index: number, error: { field: string; reason: string }): ErrorDetail {
  const path = error.field === '' ? `${member}[${index}]` : `${member}[${index}].${error.field}`;
  return { index, path, message: error.reason };
}

/** A zod issue as field and reason. Unknown members are named, not their contents. */
function refused(issue: { path: PropertyKey[]; message: string; keys?: string[] } | undefined): Checked<never> {
  const field = issue?.path.map(String).join('.') ?? '';
  if (issue?.keys?.[0] !== undefined) return { ok: false, field: issue.keys[0], reason: 'is not a known field' };
  return { ok: false, field, reason: issue?.message ?? 'is not valid' };
}
