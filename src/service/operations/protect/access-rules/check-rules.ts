/**
 * A batch of rules or conditions, checked one by one before anything is stored. The response names the first 100 bad
 * ones by index, field and reason. One bad item refuses the whole batch.
 */
import type { ErrorDetail } from '../../../../contract/errors.ts';
import { EDGE_RULES_PER_CALL_MAX } from '../../../../contract/management/edge-rule-limits.ts';
import {
  EDGE_RULE_ERRORS_LISTED_MAX,
  edgeRuleCondition,
  type EdgeRuleInput,
  edgeRuleInput,
} from '../../../../contract/management/edge-rule.ts';
import { canonicalValue } from '../../../../rules/canonical.ts';
import { failed, ok, type Result } from '../../../../result.ts';
import type { RuleKey, RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';

export const EXPIRY_IN_THE_PAST = 'is in the past';

/** Why an item is not a rule: the field, empty for the whole item, and the reason. */
interface ItemError {
  field: string;
  reason: string;
}

/**
 * A rule that is over already is a mistake, unless it was listed: such a rule has `expired` and may be sent back unchanged.
 * Two rules for one value that differ are a mistake too: only one of them could be stored.
 * @throws OperationError 413 above the bulk limit, 400 with details when an item is not a rule.
 */
export function checkedRules(items: readonly unknown[], nowMs: number): RuleWrite[] {
  const first = new Map<string, { index: number; text: string }>();
  return checkedItems('rules', items, (item, index) => {
    const rule = checkedRule(item);
    if (!rule.ok) return rule;
    const { type, value, expiry } = rule.value;
    if (expiry !== undefined && expiry * 1000 <= nowMs && !Object.hasOwn(item as object, 'expired')) {
      return failed({ field: 'expiry', reason: EXPIRY_IN_THE_PAST });
    }
    const key = `${type}:${value}`;
    const text = JSON.stringify(rule.value);
    const before = first.get(key);
    if (before !== undefined && before.text !== text) {
      return failed({
        field: '',
        reason: `is another rule for the ${type} of rules[${before.index}]. Send one of them`,
      });
    }
    if (before === undefined) first.set(key, { index, text });
    return rule;
  });
}

/** @throws OperationError like `checkedRules`. */
export function checkedConditions(items: readonly unknown[]): RuleKey[] {
  return checkedItems('conditions', items, checkedCondition);
}

/** How many different rules a batch has. Of several spellings of one rule, the last one counts. */
export function distinctRules(rules: readonly RuleKey[]): number {
  return new Set(rules.map((rule) => `${rule.type}:${rule.value}`)).size;
}

export function checkedRule(input: unknown): Result<RuleWrite, ItemError> {
  const parsed = edgeRuleInput.safeParse(input);
  if (!parsed.success) return refused(parsed.error.issues[0]);
  const canonical = canonicalValue(parsed.data.type, parsed.data.value);
  if (!canonical.ok) return failed({ field: 'value', reason: canonical.error });
  return ok(ruleWrite(parsed.data, canonical.value));
}

function checkedCondition(input: unknown): Result<RuleKey, ItemError> {
  const parsed = edgeRuleCondition.safeParse(input);
  if (!parsed.success) return refused(parsed.error.issues[0]);
  const canonical = canonicalValue(parsed.data.type, parsed.data.value);
  if (!canonical.ok) return failed({ field: 'value', reason: canonical.error });
  return ok({ type: parsed.data.type, value: canonical.value });
}

/** Fields with their default value are left out, so that writing out a default changes nothing. */
function ruleWrite(input: EdgeRuleInput, value: string): RuleWrite {
  const { type, verdict, mode, expiry, rollout, note } = input;
  return {
    type,
    value,
    verdict,
    ...(mode === 'monitor' ? { mode } : {}),
    ...(expiry === undefined || expiry === null ? {} : { expiry: Math.floor(expiry / 1000) }),
    ...(rollout === undefined || rollout === 100 ? {} : { rollout }),
    ...(note === undefined || note === null || note === '' ? {} : { note }),
  };
}

function checkedItems<T>(
  field: string,
  items: readonly unknown[],
  check: (item: unknown, index: number) => Result<T, ItemError>,
): T[] {
  if (items.length > EDGE_RULES_PER_CALL_MAX) {
    throw new OperationError(
      'API.TOO_MANY_ITEMS',
      `${field} has ${items.length} items; one call may have at most ${EDGE_RULES_PER_CALL_MAX}`,
    );
  }
  const good: T[] = [];
  const errors: ErrorDetail[] = [];
  for (const [index, item] of items.entries()) {
    const checked = check(item, index);
    if (checked.ok) good.push(checked.value);
    else if (errors.push(errorDetail(field, index, checked.error)) >= EDGE_RULE_ERRORS_LISTED_MAX) break;
  }
  if (errors.length > 0) {
    const more = errors.length >= EDGE_RULE_ERRORS_LISTED_MAX ? ` (the first ${errors.length} are listed)` : '';
    throw new OperationError('API.INVALID_RULES', `Some ${field} are not valid; nothing was stored${more}`, errors);
  }
  return good;
}

function errorDetail(list: string, index: number, error: ItemError): ErrorDetail {
  const path = error.field === '' ? `${list}[${index}]` : `${list}[${index}].${error.field}`;
  return { index, path, message: error.reason };
}

/** A zod issue as field and reason. An unknown field is named without its content. */
function refused(issue: { path: PropertyKey[]; message: string; keys?: string[] } | undefined): {
  ok: false;
  error: ItemError;
} {
  const field = issue?.path.map(String).join('.') ?? '';
  if (issue?.keys?.[0] !== undefined) return failed({ field: issue.keys[0], reason: 'is not a known field' });
  return failed({ field, reason: issue?.message ?? 'is not valid' });
}
