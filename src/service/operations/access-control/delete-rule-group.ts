/**
 * `POST /access-control/group/delete`: starts a job that removes every rule that is in the group now.
 * `get-rule-group-job.ts` shows its progress.
 */
import * as z from 'zod/mini';
import { ruleGroupId } from '../../../contract/management/access-control-rule.ts';
import { requestGroupRemoval, runGroupRemoval } from '../../../store/d1/rule-group-jobs.ts';
import { operation } from '../define-operation.ts';

export const deleteRuleGroup = operation({
  name: 'delete-rule-group',
  method: 'POST',
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
});
