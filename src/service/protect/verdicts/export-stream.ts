/**
 * Everything a filter matches, newest first, page by page: the next page is read when the client has
 * taken the last one, so neither side holds more than a page.
 */
import { readPage } from '../../../store/verdict-log/read-page.ts';
import type { RowFilter } from '../../../store/verdict-log/filter.ts';
import type { RowKey, StoredRow } from '../../../store/verdict-log/row.ts';
import type { LogTarget } from './verdict-log-query.ts';

/** How rows become bytes. `close` says what a file ends with. */
export interface ExportFormat {
  contentType: string;
  extension: string;
  /** About this many rows at a time. */
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
    page: (rows) => encoder.encode(rows.map(({ body }) => `${body}\n`).join('')),
    close: () => null,
  };
}

export function exportStream(
  env: ServiceEnv,
  target: LogTarget,
  filter: RowFilter,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  const { log } = target;
  const limit = format.pageRows;
  let before: RowKey | null = null;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A page that searched its share of blocks may be empty and still not be the last.
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- each page begins where the last one ended
        const page = await readPage(env, log, { filter, before, offset: 0, limit, wantTotal: false });
        before = page.next;
        if (page.rows.length > 0) controller.enqueue(format.page(page.rows));
        if (before === null) {
          const end = format.close();
          if (end) controller.enqueue(end);
          controller.close();
        }
        if (before === null || page.rows.length > 0) return;
      }
    },
  });
}
