/**
 * `POST /access-control/get`: one page of rules, with expired rules marked. Each rule can be sent back to create as it
 * is.
 */
import * as z from 'zod/mini';
import {
  type ListedAccessRule,
  listedAccessRule,
  ruleGroupId,
} from '../../../contract/management/access-control-rule.ts';
import { type AccessControlRule, accessRulePage, accessRuleSortKeys } from '../../../store/d1/access-control-rules.ts';
import { operation } from '../define-operation.ts';

const PAGE_RULES_DEFAULT = 100;
const PAGE_RULES_MAX = 10_000;
const PAGE_MAX = 1_000_000;
/** `1` or `-1`, as a number or as the same text. */
const sortOrder = z.union([z.literal(1), z.literal(-1), z.literal('1'), z.literal('-1')]);

export const getAccessControlRules = operation({
  name: 'get-access-control-rules',
  method: 'POST',
  path: '/access-control/get',
  feature: 'AccessRules',
  permission: 'getRules',
  access: 'read',
  summary: 'List access control rules',
  body: z.strictObject({
    /** From 1. */
    page: z._default(z.int().check(z.gte(1), z.lte(PAGE_MAX)), 1),
    limit: z._default(z.int().check(z.gte(1), z.lte(PAGE_RULES_MAX)), PAGE_RULES_DEFAULT),
    ruleGroupId: z.optional(ruleGroupId),
    sortBy: z._default(z.enum(accessRuleSortKeys), 'createdAt'),
    sortOrder: z._default(sortOrder, -1),
  }),
  response: z.object({
    rules: z.array(listedAccessRule),
    /** Rules that match the filter, on all pages. */
    ruleCount: z.int(),
    ruleGroupsAndCounts: z.array(z.object({ ruleGroupId: z.string(), count: z.int() })),
    page: z.int(),
    pages: z.int(),
  }),
  async handler({ store, account, body, nowMs }) {
    const { page, limit } = body;
    const { rules, total, groups } = await accessRulePage(store, account.id, {
      page,
      limit,
      ruleGroupId: body.ruleGroupId,
      sortBy: body.sortBy,
      descending: Number(body.sortOrder) === -1,
    });
    return {
      rules: rules.map((rule) => listed(rule, nowMs)),
      ruleCount: total,
      ruleGroupsAndCounts: groups,
      page,
      pages: Math.ceil(total / limit),
    };
  },
});

function listed(rule: AccessControlRule, nowMs: number): ListedAccessRule {
  return {
    type: rule.type,
    ...(rule.description === null ? {} : { description: rule.description }),
    conditions: rule.conditions.map(({ field, value }) => ({ field, operator: 'equals', value })),
    expiry: new Date(rule.expiry).toISOString(),
    ...(rule.ruleGroupId === null ? {} : { ruleGroupId: rule.ruleGroupId }),
    ...rule.restriction,
    userScopeHash: rule.userScopeHash,
    createdAt: new Date(rule.createdAt).toISOString(),
    updatedAt: new Date(rule.updatedAt).toISOString(),
    expired: rule.expiry <= nowMs,
  };
}
