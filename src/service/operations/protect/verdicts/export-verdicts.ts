/** `POST /protect/verdicts/export`: every verdict that matches a filter, as a stream, newest first. */
import * as z from 'zod/mini';
import { verdictExportRequest } from '../../../../contract/management/verdict-query.ts';
import { operation } from '../../define-operation.ts';
import { exportStream, ndjsonFormat } from './stream-verdicts.ts';
import { parquetFormat } from './parquet-format.ts';
import { logTarget, rowFilter } from './verdict-log-query.ts';

export const exportVerdicts = operation({
  name: 'export-verdicts',
  method: 'POST',
  path: '/protect/verdicts/export',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Stream matching verdicts as NDJSON or Parquet',
  body: verdictExportRequest,
  response: z.string(),
  responseTypes: ['application/x-ndjson', 'application/vnd.apache.parquet'],
  async handler(context) {
    const target = await logTarget(context, context.body.siteKey);
    const format = context.body.format === 'parquet' ? parquetFormat() : ndjsonFormat();
    return new Response(exportStream(context.store, target, rowFilter(context.body, target.horizon), format), {
      headers: {
        'content-type': format.contentType,
        'content-disposition': `attachment; filename="verdicts.${format.extension}"`,
        'cache-control': 'no-store',
      },
    });
  },
});
