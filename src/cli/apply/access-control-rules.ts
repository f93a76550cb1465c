/** Access control rules of a file, each known by its conditions, as on the service. */
import type { ListedAccessControlRule } from '../../contract/management/access-control-rule.ts';
import { checkedAccessControlRule } from '../../service/operations/access-control/check-rule.ts';
import type { FileAccessRule } from './config-schema.ts';
import type { FieldPath, Report } from './report.ts';

/** What of a rule can be set. `undefined` fields are absent. */
export type SettableRule = Omit<ListedAccessControlRule, 'userScopeHash' | 'createdAt' | 'updatedAt' | 'expired'>;

export interface WantedAccessRule {
  path: FieldPath;
  hash: string;
  rule: SettableRule;
}

/** By `userScopeHash`. */
export async function readAccessRules(
  rules: readonly FileAccessRule[],
  report: Report,
): Promise<Map<string, WantedAccessRule>> {
  const wanted: WantedAccessRule[] = [];
  for (const [index, rule] of rules.entries()) {
    const path: FieldPath = ['accessControl', index];
    wanted.push({ path, ...(await canonical(rule, path, report)) });
  }
  return report.unique(wanted, ['accessControl'], 'conditions', ({ hash }) => hash);
}

async function canonical(
  given: FileAccessRule,
  path: FieldPath,
  report: Report,
): Promise<{ hash: string; rule: SettableRule }> {
  try {
    // Whether a rule is over is no mistake of the file: it says what it said before.
    const checked = await checkedAccessControlRule(given, Number.NEGATIVE_INFINITY);
    const { type, description, conditions, restriction, ruleGroupId, expiry } = checked;
    const rule = {
      type,
      ...(description === null ? {} : { description }),
      conditions: conditions.map(({ field, value }) => ({ field, operator: 'equals' as const, value })),
      expiry: new Date(expiry).toISOString(),
      ...(ruleGroupId === null ? {} : { ruleGroupId }),
      ...restriction,
    };
    return { hash: checked.userScopeHash, rule };
  } catch (error) {
    report.addRefusal(path, error, 1);
    return { hash: `\0${path.join('.')}`, rule: { ...(given as Omit<SettableRule, 'expiry'>), expiry: '' } };
  }
}
