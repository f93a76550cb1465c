/** Access control rules of an account, which choose the captcha of a visitor. */
import * as z from 'zod/mini';
import { pageLimit, pageNumber } from '../pages.ts';
import {
  accessRuleInput,
  type ListedAccessControlRule,
  listedAccessRule,
  ruleGroupId,
  userScopeHash,
} from '../../../contract/management/access-control-rule.ts';
import {
  ACCESS_CONDITIONS_MAX_CHARS,
  ACCESS_CONTROL_RULES_MAX,
  type AccessControlRule,
  accessControlRulePage,
  accessControlRuleSortKeys,
  deleteAccessControlRule,
  putAccessControlRule,
} from '../../../store/d1/access-control-rules.ts';
import { type Operation, operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { checkedAccessControlRule } from './check-rule.ts';
import { requestGroupRemoval, ruleGroupJob, runGroupRemoval } from '../../../store/d1/rule-group-jobs.ts';

const PAGE_RULES_DEFAULT = 100;
const PAGE_RULES_MAX = 10_000;
/** `1` or `-1`, as a number or as the same text. */
const sortOrder = z.union([z.literal(1), z.literal(-1), z.literal('1'), z.literal('-1')]);

export const accessControlOperations: readonly Operation[] = [
  /** One page of rules, with expired rules marked. Each rule can be sent back to create as it is. */
  operation({
    name: 'get-access-control-rules',
    path: '/access-control/get',
    feature: 'AccessRules',
    permission: 'getRules',
    access: 'read',
    summary: 'List access control rules',
    body: z.strictObject({
      page: pageNumber,
      limit: pageLimit(PAGE_RULES_MAX, PAGE_RULES_DEFAULT),
      ruleGroupId: z.optional(ruleGroupId),
      sortBy: z._default(z.enum(accessControlRuleSortKeys), 'createdAt'),
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
      const { rules, total, groups } = await accessControlRulePage(store, account.id, {
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
  }),
  /** A rule with the same conditions is replaced, so sending a listed rule back changes nothing. */
  operation({
    name: 'create-access-control-rule',
    path: '/access-control/create',
    feature: 'AccessRules',
    permission: 'createRule',
    access: 'write',
    summary: 'Add an access control rule',
    body: z.strictObject({ rule: accessRuleInput }),
    response: z.object({ status: z.literal('Added new rule') }),
    async handler({ store, account, body, nowMs, changes }) {
      const rule = await checkedAccessControlRule(body.rule, nowMs);
      const put = await putAccessControlRule(store, account.id, rule, nowMs);
      if (!put.ok) {
        throw new OperationError(
          'API.TOO_MANY_ITEMS',
          `An account holds at most ${ACCESS_CONTROL_RULES_MAX} rules and ${ACCESS_CONDITIONS_MAX_CHARS} characters of conditions`,
        );
      }
      changes.note('access control rule', [
        { name: valuesOf(rule), before: put.value && fieldsOf(put.value), after: fieldsOf(rule) },
      ]);
      return { status: 'Added new rule' };
    },
  }),
  /** Deletes one rule, by its `userScopeHash`. */
  operation({
    name: 'delete-access-control-rule',
    path: '/access-control/delete',
    feature: 'AccessRules',
    permission: 'deleteRule',
    access: 'write',
    summary: 'Delete an access control rule',
    body: z.strictObject({ userScopeHash }),
    response: z.object({ status: z.literal('Deleted rule') }),
    async handler({ store, account, body, changes }) {
      const deleted = await deleteAccessControlRule(store, account.id, body.userScopeHash);
      if (deleted === null) {
        throw new OperationError('API.NOT_FOUND', 'The account has no rule with this userScopeHash');
      }
      changes.note('access control rule', [{ name: valuesOf(deleted), before: fieldsOf(deleted), after: null }]);
      return { status: 'Deleted rule' };
    },
  }),
  /** Starts a job that removes every rule that is in the group now. `get-rule-group-job` shows its progress. */
  operation({
    name: 'delete-rule-group',
    path: '/access-control/group/delete',
    feature: 'AccessRules',
    permission: 'deleteRuleGroup',
    access: 'write',
    summary: 'Delete every rule of a group',
    body: z.strictObject({ ruleGroupId }),
    response: z.object({ status: z.string(), jobId: z.string() }),
    async handler({ store, account, body, nowMs, waitUntil }) {
      const job = await requestGroupRemoval(store, account.id, body.ruleGroupId, nowMs);
      // If this isolate ends before the job is finished, the scheduled run continues it.
      waitUntil(runGroupRemoval(store, job, Date.now));
      return { status: `Group removal pending. Job ID: ${job.id}`, jobId: job.id };
    },
  }),
  /** The progress of the removal of a rule group. */
  operation({
    name: 'get-rule-group-job',
    path: '/access-control/group/job',
    feature: 'AccessRules',
    permission: 'deleteRuleGroup',
    access: 'read',
    summary: 'Get the progress of the removal of a rule group',
    body: z.strictObject({ jobId: z.string().check(z.minLength(1), z.maxLength(64)) }),
    response: z.object({
      jobId: z.string(),
      ruleGroupId: z.string(),
      status: z.enum(['pending', 'finished']),
      deletedCount: z.int(),
      requestedAt: z.int(),
      finishedAt: z.nullable(z.int()),
    }),
    async handler({ store, account, body }) {
      const job = await ruleGroupJob(store, account.id, body.jobId);
      if (!job) throw new OperationError('API.NOT_FOUND', 'The account has no job with this id');
      const { deletedCount, requestedAt, finishedAt } = job;
      const status = finishedAt === null ? 'pending' : 'finished';
      return { jobId: job.id, ruleGroupId: job.ruleGroupId, status, deletedCount, requestedAt, finishedAt };
    },
  }),
];

type RuleContent = Pick<
  AccessControlRule,
  'type' | 'description' | 'conditions' | 'expiry' | 'ruleGroupId' | 'restriction'
>;

/** What the rule is called, which has no name. */
function valuesOf({ conditions }: RuleContent): string {
  return conditions.map(({ value }) => value).join(' and ');
}

function fieldsOf({ type, description, expiry, ruleGroupId: group, restriction }: RuleContent): object {
  return { type, description, expiry, ruleGroupId: group, ...restriction };
}

function listed(rule: AccessControlRule, nowMs: number): ListedAccessControlRule {
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
