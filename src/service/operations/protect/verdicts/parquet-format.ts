/**
 * Verdicts as one Parquet file, for DuckDB and similar tools: one column per field; lists and the facts of the edge are
 * JSON. One row group is written at a time, and the writer keeps only what the footer needs.
 */
import type { BasicType } from 'hyparquet-writer';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { ParquetWriter } from 'hyparquet-writer/src/parquet-writer.js';
import { schemaFromColumnData } from 'hyparquet-writer/src/schema.js';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { ExportFormat } from './stream-verdicts.ts';

/** A row group of about 250 kB takes 40 ms to encode and is large enough to compress well. */
const GROUP_ROWS = 5000;

interface Column {
  name: string;
  type: BasicType;
  nullable: boolean;
  of: (record: VerdictRecord) => unknown;
}

const text = (name: keyof VerdictRecord, nullable = false): Column => ({
  name,
  type: 'STRING',
  nullable,
  of: (record) => record[name] ?? null,
});
const plain = (name: keyof VerdictRecord, type: BasicType, nullable = false): Column => ({
  name,
  type,
  nullable,
  of: (record) => record[name] ?? null,
});

/** A new column goes to the end, because readers may refer to columns by number. */
const columns: readonly Column[] = [
  text('id'),
  text('request_id'),
  { name: 'timestamp', type: 'TIMESTAMP', nullable: false, of: ({ timestamp }) => new Date(timestamp) },
  text('instance_id'),
  text('site_key'),
  text('jti', true),
  text('ip', true),
  plain('ip_category', 'JSON'),
  text('country', true),
  { name: 'asn', type: 'INT64', nullable: true, of: ({ asn }) => (asn === null ? null : BigInt(asn)) },
  text('ja4', true),
  text('user_agent'),
  text('device_type'),
  text('method'),
  text('host'),
  text('request_path'),
  text('path_type'),
  text('decision'),
  text('source'),
  text('decided_by'),
  plain('fired_rules', 'JSON'),
  text('explain'),
  text('enforcement_policy'),
  text('session_status'),
  plain('verified', 'BOOLEAN', true),
  plain('level', 'INT32', true),
  plain('risk_score', 'DOUBLE', true),
  plain('status', 'INT32'),
  plain('origin_ms', 'DOUBLE', true),
  { name: 'ruleset_version', type: 'INT64', nullable: false, of: (record) => BigInt(record.ruleset_version) },
  plain('edge', 'JSON'),
  plain('bot', 'JSON', true),
];

export function parquetFormat(): ExportFormat {
  const bytes = new ByteWriter();
  const schema = schemaFromColumnData({
    columnData: columns.map(({ name, type, nullable }) => ({ name, type, nullable, data: [] })),
  });
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'gatehouse' });
  const taken = (): Uint8Array => {
    const part = bytes.getBytes().slice();
    // The writer's own `offset`, from which the footer gets its positions, continues to count.
    bytes.index = 0;
    return part;
  };
  return {
    contentType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    pageRows: GROUP_ROWS,
    page(rows) {
      const records = rows.map(({ body }) => JSON.parse(body) as VerdictRecord);
      const columnData = columns.map(({ name, of }) => ({ name, data: records.map(of) }));
      void writer.write({ columnData, rowGroupSize: GROUP_ROWS });
      return taken();
    },
    close() {
      void writer.finish();
      return taken();
    },
  };
}
