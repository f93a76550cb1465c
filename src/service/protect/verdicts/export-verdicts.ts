/**
 * `POST /protect/verdicts/export`: everything a filter matches as a stream, newest first. A page is
 * read when the client has taken the last one, so neither side holds more than a page.
 */
import * as z from 'zod/mini';
import { verdictExportRequest } from '../../../contract/verdict-query.ts';
import { readPage } from '../../../store/verdict-log/read-page.ts';
import type { RowFilter } from '../../../store/verdict-log/filter.ts';
import type { RowKey } from '../../../store/verdict-log/row.ts';
import { operation } from '../../operation.ts';
import { logTarget, rowFilter } from './verdict-log-query.ts';
import type { LogTarget } from './verdict-log-query.ts';

/** About 1 MB of answer. */
const PAGE_ROWS = 1000;

export const exportVerdicts = operation({
  name: 'export-verdicts',
  method: 'POST',
  path: '/protect/verdicts/export',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Stream matching verdicts as NDJSON',
  body: verdictExportRequest,
  response: z.string(),
  async handler(context) {
    const target = await logTarget(context, context.body.siteKey);
    return new Response(lines(context.env, target, rowFilter(context.body, target.horizon)), {
      headers: {
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="verdicts.ndjson"',
        'cache-control': 'no-store',
      },
    });
  },
});

function lines(env: ServiceEnv, target: LogTarget, filter: RowFilter): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let before: RowKey | null = null;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A page that searched its share of blocks may be empty and still not be the last.
      for (;;) {
        const page = await readPage(env, target.log, { filter, before, offset: 0, limit: PAGE_ROWS, wantTotal: false });
        before = page.next;
        if (page.rows.length > 0) controller.enqueue(encoder.encode(page.rows.map(({ body }) => `${body}\n`).join('')));
        if (before === null) controller.close();
        if (before === null || page.rows.length > 0) return;
      }
    },
  });
}
