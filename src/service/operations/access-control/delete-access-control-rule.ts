/** `POST /access-control/delete`: deletes one rule, by its `userScopeHash`. */
import * as z from 'zod/mini';
import { userScopeHash } from '../../../contract/management/access-control-rule.ts';
import { deleteAccessRule } from '../../../store/d1/access-control-rules.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';

export const deleteAccessControlRule = operation({
  name: 'delete-access-control-rule',
  method: 'POST',
  path: '/access-control/delete',
  feature: 'AccessRules',
  permission: 'deleteRule',
  access: 'write',
  summary: 'Delete an access control rule',
  body: z.strictObject({ userScopeHash }),
  response: z.object({ status: z.literal('Deleted rule') }),
  async handler({ store, account, body }) {
    if (!(await deleteAccessRule(store, account.id, body.userScopeHash))) {
      throw new OperationError('API.NOT_FOUND', 'The account has no rule with this userScopeHash');
    }
    return { status: 'Deleted rule' };
  },
});
