/** Every verdict that matches a filter, as a stream, newest first. */
import * as z from 'zod/mini';
import { verdictExportRequest } from '../../../../contract/management/verdict-query.ts';
import { protectOperation } from '../../define-operation.ts';
import { logTarget, type LogTarget, rowFilter } from './verdict-log-query.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { RowFilter } from '../../../../store/event-log/row-filter.ts';
import type { RowKey, StoredRow } from '../../../../store/event-log/log-row.ts';
import { explainedBody } from './verdict-pages.ts';
import type { ServiceStore } from '../../../environment.ts';
import { SegmentWriter } from '../../../../store/event-log/parquet/segment-writer.ts';
import { verdictSchema } from '../../../../store/event-log/parquet/verdict-schema.ts';

export const exportVerdicts = protectOperation({
  name: 'export-verdicts',
  path: '/protect/verdicts/export',
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

/** A shard sends its rows in one message of at most 32 MiB, and the largest row has 30 kB. */
const ROWS_AT_ONCE = 1000;

/** How rows become bytes. `close` returns the end of the file. */
interface ExportFormat {
  contentType: string;
  extension: string;
  /** Rows of one page. */
  pageRows: number;
  page(rows: readonly StoredRow[]): Uint8Array;
  close(): Uint8Array | null;
}

export function ndjsonFormat(): ExportFormat {
  const encoder = new TextEncoder();
  return {
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    pageRows: 1000,
    page: (rows) => encoder.encode(rows.map((row) => `${explainedBody(row)}\n`).join('')),
    close: () => null,
  };
}

/**
 * The next page is read when the client has taken the last one, so neither side holds more than one page.
 */
export function exportStream(
  store: ServiceStore,
  target: LogTarget,
  filter: RowFilter,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  const { log } = target;
  let before: RowKey | null = null;
  let isOver = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const rows: StoredRow[] = [];
      // A page may be short or empty without being the last one.
      while (!isOver && rows.length < format.pageRows) {
        const limit = Math.min(format.pageRows - rows.length, ROWS_AT_ONCE);
        const page = await readPage(store, log, { filter, before, offset: 0, limit, wantTotal: false });
        rows.push(...page.rows);
        before = page.next;
        isOver = before === null;
      }
      if (rows.length > 0) controller.enqueue(format.page(rows));
      if (!isOver) return;
      const end = format.close();
      if (end) controller.enqueue(end);
      controller.close();
    },
  });
}

/** A row group of about 200 kB takes 60 ms to encode and is large enough to compress well. */
const GROUP_ROWS = 5000;

/**
 * One Parquet file, for DuckDB and similar tools: the columns of the log's sealed segments. One row group is written at a
 * time, and the writer keeps only what the footer needs.
 */
function parquetFormat(): ExportFormat {
  const writer = new SegmentWriter(verdictSchema);
  return {
    contentType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    pageRows: GROUP_ROWS,
    page(rows) {
      for (const row of rows) {
        const body = explainedBody(row);
        writer.add(JSON.parse(body) as object, body);
      }
      writer.endRowGroup();
      return writer.take();
    },
    close() {
      writer.end({});
      return writer.take();
    },
  };
}
