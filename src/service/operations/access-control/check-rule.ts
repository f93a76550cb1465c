/**
 * Turns a rule as sent into a rule as stored: conditions with an operator other than `equals` are dropped, values are
 * in canonical form, restrictions are allowed on `restrict` rules only, and a hash of the conditions identifies the
 * rule.
 */
import {
  accessConditionInput,
  type AccessRestriction,
  type AccessRuleInput,
  restrictionNames,
} from '../../../contract/management/access-control-rule.ts';
import type { ErrorDetail } from '../../../contract/errors.ts';
import { canonicalValue } from '../../../rules/canonical.ts';
import type { AccessCondition, AccessControlRule } from '../../../store/d1/access-control-rules.ts';
import { sha256Hex } from '../../../bytes/hex.ts';
import { failed, ok } from '../../../result.ts';
import { OperationError } from '../operation-error.ts';
import type * as z from 'zod/mini';

const DEFAULT_LIFE_MS = 3600 * 1000;

export async function checkedAccessControlRule(
  input: AccessRuleInput,
  nowMs: number,
): Promise<Omit<AccessControlRule, 'createdAt' | 'updatedAt'>> {
  const details: ErrorDetail[] = [];
  const conditions = checkedConditions(input.conditions, details);
  const restriction = checkedRestriction(input, details);
  const expiry = input.expiry ?? nowMs + DEFAULT_LIFE_MS;
  if (expiry <= nowMs && !wasListed(input)) details.push({ path: 'rule.expiry', message: 'is in the past' });
  if (details.length > 0) throw new OperationError('API.INVALID_BODY', 'The rule cannot be added', details);
  return {
    userScopeHash: await userScopeHashOf(conditions),
    type: input.type,
    description: input.description ?? null,
    conditions,
    restriction,
    ruleGroupId: input.ruleGroupId ?? null,
    expiry,
  };
}

/**
 * A listed rule may be sent back unchanged, also after its expiry: it is stored as expired. A new rule that is over
 * already is a mistake, and has none of the fields that only the service writes.
 */
function wasListed({ expired, userScopeHash }: AccessRuleInput): boolean {
  return expired !== undefined || userScopeHash !== undefined;
}

/** The same conditions, in any order and any spelling, have the same hash. */
function userScopeHashOf(conditions: readonly AccessCondition[]): Promise<string> {
  return sha256Hex(JSON.stringify(conditions.map(({ field, value }) => [field, value])));
}

function checkedConditions(
  given: readonly z.infer<typeof accessConditionInput>[],
  details: ErrorDetail[],
): AccessCondition[] {
  const conditions = new Map<AccessCondition['field'], AccessCondition>();
  for (const [index, { field, operator, value }] of given.entries()) {
    // Clients of other services send conditions with other operators, and expect them to be ignored.
    if (operator !== 'equals') continue;
    const canonical = canonicalCondition(field, value);
    if (!canonical.ok) {
      details.push({ path: `rule.conditions.${index}.value`, message: canonical.error });
      continue;
    }
    const existing = conditions.get(field);
    if (existing && existing.value !== canonical.value) {
      details.push({ path: `rule.conditions.${index}.field`, message: `has a second value of ${field}` });
    }
    conditions.set(field, { field, value: canonical.value });
  }
  if (conditions.size === 0 && details.length === 0) {
    details.push({ path: 'rule.conditions', message: 'needs at least one condition with the operator equals' });
  }
  return [...conditions.values()].toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

/** `userId` and `userAgent` are compared as they are. Values of the other fields have one spelling each. */
function canonicalCondition(
  field: AccessCondition['field'],
  value: string | number,
): ReturnType<typeof canonicalValue> {
  if (field === 'userId') return ok(String(value));
  if (field !== 'userAgent') return canonicalValue(field, value);
  return typeof value === 'string' ? ok(value) : failed('must be a string');
}

function checkedRestriction(input: AccessRuleInput, details: ErrorDetail[]): AccessRestriction {
  const given = restrictionNames.filter((name) => input[name] !== undefined);
  if (input.type === 'block') {
    for (const name of given) details.push({ path: `rule.${name}`, message: 'is allowed on restrict rules only' });
    return {};
  }
  return Object.fromEntries(given.map((name) => [name, input[name]])) as AccessRestriction;
}
