/** `POST /access-control/group/job`: the progress of the removal of a rule group. */
import * as z from 'zod/mini';
import { ruleGroupJob } from '../../../store/d1/rule-group-jobs.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';

export const getRuleGroupJob = operation({
  name: 'get-rule-group-job',
  method: 'POST',
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
    const { ruleGroupId, deletedCount, requestedAt, finishedAt } = job;
    const status = finishedAt === null ? 'pending' : 'finished';
    return { jobId: job.id, ruleGroupId, status, deletedCount, requestedAt, finishedAt };
  },
});
