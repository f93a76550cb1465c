/**
 * Every verdict that matches a filter, newest first, page by page. The next page is read when the client has taken the
 * last one, so neither side holds more than one page.
 */
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { RowFilter } from '../../../../store/event-log/row-filter.ts';
import type { RowKey, StoredRow } from '../../../../store/event-log/log-row.ts';
import { explainedBody } from './explained-row.ts';
import type { LogTarget } from './verdict-log-query.ts';
import type { ServiceStore } from '../../../environment.ts';

/** A shard sends its rows in one message of at most 32 MiB, and the largest row has 30 kB. */
const ROWS_AT_ONCE = 1000;

/** How rows become bytes. `close` returns the end of the file. */
export interface ExportFormat {
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
