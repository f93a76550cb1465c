/**
 * `POST /protect/log/rebuild`: one step of building the log's index and counts again from its Parquet files. Call it with
 * `nextCursor` until that is `null`.
 */
import {
  rebuildLogRequest,
  type RebuildLogResponse,
  rebuildLogResponse,
} from '../../../../contract/management/log-rebuild.ts';
import { captchaLog, CAPTCHA_RETENTION_DAYS } from '../../../../store/event-log/client/captcha-log.ts';
import { telemetryLogOf } from '../../../../store/event-log/client/telemetry-log.ts';
import { rebuildStep } from '../../../../store/event-log/client/rebuild-log.ts';
import { protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { logTarget } from './verdict-log-query.ts';
import { ownerFolder } from '../../../../store/event-log/segment-key.ts';

export const rebuildLog = protectOperation({
  name: 'rebuild-log',
  path: '/protect/log/rebuild',
  access: 'write',
  summary: 'Build index and counts of the log again from its sealed files, step by step',
  body: rebuildLogRequest,
  response: rebuildLogResponse,
  async handler(context): Promise<RebuildLogResponse> {
    const { siteKey, stream, cursor } = context.body;
    const { log: verdicts, instance } = await logTarget(context, siteKey);
    const logs = { verdicts, captchas: captchaLog(instance.accountId), telemetry: telemetryLogOf(instance) };
    const log = logs[stream];
    if (cursor !== undefined && !cursor.startsWith(ownerFolder(`${log.stream}/${log.owner}:0:0`))) {
      throw new OperationError('API.INVALID_BODY', 'The cursor is of another log', [
        { path: 'cursor', message: 'Send the nextCursor of the step before' },
      ]);
    }
    const retentionDays = stream === 'captchas' ? CAPTCHA_RETENTION_DAYS : instance.retentionDays;
    const { next, ...step } = await rebuildStep(context.store, log, { retentionDays }, cursor ?? null);
    return { ...step, nextCursor: next };
  },
});
