/**
 * Sealed captchas as they were kept before runs: columns of 2,000 rows by segment, part and field. An object
 * that still has them writes them anew, a segment at a time, before its first search or erasure, or
 * when its alarm comes; both tables go with the last of them.
 */
import type { CaptchaRecord } from '../captcha-record.ts';
import { captchaFields } from './columns.ts';
import { CaptchaRunsBuilder } from '../shard/runs.ts';

const HEADER_BYTES = 8;

/** Lengths of the dictionary and rows, the dictionary, an index per row of one byte or two. */
class CaptchaColumn {
  readonly #texts: readonly string[];
  readonly #indexes: Uint8Array | Uint16Array;

  constructor(data: ArrayBuffer) {
    const [dictionaryBytes = 0, rows = 0] = new Uint32Array(data, 0, 2);
    const indexesAt = HEADER_BYTES + dictionaryBytes;
    this.#texts = new TextDecoder().decode(new Uint8Array(data, HEADER_BYTES, dictionaryBytes)).split('\n');
    this.#indexes =
      data.byteLength - indexesAt === rows ? new Uint8Array(data, indexesAt) : new Uint16Array(data.slice(indexesAt));
  }

  textOf(row: number): string {
    return this.#texts[this.#indexes[row] as number] as string;
  }
}

export function holdsOldColumns(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'captcha_parts'").toArray().length > 0;
}

/** Newest segment first. @returns `false`: that was the last one. */
export function convertOldColumns(storage: DurableObjectStorage): boolean {
  const { sql } = storage;
  return storage.transactionSync(() => {
    const [newest] = sql.exec<{ segment: number }>('SELECT segment FROM captcha_parts ORDER BY segment DESC LIMIT 1');
    if (!newest) {
      sql.exec('DROP TABLE captcha_columns');
      sql.exec('DROP TABLE captcha_parts');
      return false;
    }
    const runs = new CaptchaRunsBuilder();
    for (const record of oldRecords(sql, newest.segment)) runs.add(record);
    runs.write(sql, newest.segment);
    sql.exec('DELETE FROM captcha_columns WHERE segment = ?', newest.segment);
    sql.exec('DELETE FROM captcha_parts WHERE segment = ?', newest.segment);
    return true;
  });
}

/** Oldest first. */
function* oldRecords(sql: SqlStorage, segment: number): Generator<CaptchaRecord> {
  const parts = sql.exec<{ no: number; rows: number }>(
    'SELECT no, rows FROM captcha_parts WHERE segment = ? ORDER BY no',
    segment,
  );
  for (const { no, rows } of parts.toArray()) {
    const columns = sql
      .exec<{ field: number; data: ArrayBuffer }>(
        'SELECT field, data FROM captcha_columns WHERE segment = ? AND part = ? ORDER BY field',
        segment,
        no,
      )
      .toArray()
      .map(({ field, data }) => ({ name: captchaFields[field], column: new CaptchaColumn(data) }));
    for (let row = 0; row < rows; row += 1) {
      const members = columns.map(({ name, column }) => `"${name}":${column.textOf(row)}`);
      yield JSON.parse(`{${members.join(',')}}`) as CaptchaRecord;
    }
  }
}
