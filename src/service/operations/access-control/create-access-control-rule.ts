/**
 * `POST /access-control/create`. A rule with the same conditions is replaced, so sending a listed rule back changes
 * nothing.
 */
import * as z from 'zod/mini';
import { accessRuleInput } from '../../../contract/management/access-control-rule.ts';
import {
  ACCESS_CONDITIONS_MAX_CHARS,
  ACCESS_RULES_PER_ACCOUNT_MAX,
  putAccessRule,
} from '../../../store/d1/access-control-rules.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { checkedRule } from './check-rule.ts';

export const createAccessControlRule = operation({
  name: 'create-access-control-rule',
  method: 'POST',
  path: '/access-control/create',
  feature: 'AccessRules',
  permission: 'createRule',
  access: 'write',
  summary: 'Add an access control rule',
  body: z.strictObject({ rule: accessRuleInput }),
  response: z.object({ status: z.literal('Added new rule') }),
  async handler({ store, account, body, nowMs }) {
    const rule = await checkedRule(body.rule, nowMs);
    if (!(await putAccessRule(store, account.id, rule, nowMs)).ok) {
      throw new OperationError(
        'API.TOO_MANY_ITEMS',
        `An account holds at most ${ACCESS_RULES_PER_ACCOUNT_MAX} rules and ${ACCESS_CONDITIONS_MAX_CHARS} characters of conditions`,
      );
    }
    return { status: 'Added new rule' };
  },
});
