/**
 * Verdicts as one Parquet file, for DuckDB and similar tools: the columns of the log's sealed segments. One row group is
 * written at a time, and the writer keeps only what the footer needs.
 */
import { SegmentWriter } from '../../../../store/event-log/parquet/segment-writer.ts';
import { verdictSchema } from '../../../../store/event-log/parquet/verdict-schema.ts';
import { explainedBody } from './explained-row.ts';
import type { ExportFormat } from './stream-verdicts.ts';

/** A row group of about 200 kB takes 60 ms to encode and is large enough to compress well. */
const GROUP_ROWS = 5000;

export function parquetFormat(): ExportFormat {
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
