/**
 * What a sealed segment leaves in the database to be searched by: its columns and its keys. Built from its records while
 * the object is built, and written in the transaction that seals it. It can be made again from the object at any time.
 */
import { captchaFields } from '../captcha-fields.ts';
import type { CaptchaRecord } from '../captcha-record.ts';
import type { LogRecord } from '../log-record.ts';
import { ColumnBuilder } from './column.ts';
import { dropColumns, writeColumns } from './segment-columns.ts';
import { dropKeys, type KeyField, SegmentKeysBuilder } from './segment-keys.ts';
import { CLASS_COLUMN, classText } from './verdict-columns.ts';

export class SegmentIndex {
  readonly #keys = new SegmentKeysBuilder();
  /** Number of the field → its column. */
  readonly #columns = new Map<number, ColumnBuilder>();
  /** The column whose places stand beside every key. */
  #classes: ColumnBuilder | null = null;
  readonly #times: number[] = [];

  /** Records arrive in the order of the segment's rows: oldest first. */
  add(record: LogRecord): void {
    const row = this.#times.push(record.timestamp) - 1;
    if (isCaptcha(record)) {
      for (const [no, field] of captchaFields.entries()) this.#column(no + 1).add(JSON.stringify(record[field]));
      for (const [field, text] of captchaKeys(record)) this.#keys.add(field, text, row);
    } else {
      this.#classes = this.#column(CLASS_COLUMN);
      this.#classes.add(classText(record));
      for (const [field, text] of verdictKeys(record)) this.#keys.add(field, text, row);
    }
  }

  #column(no: number): ColumnBuilder {
    let column = this.#columns.get(no);
    if (column === undefined) this.#columns.set(no, (column = new ColumnBuilder()));
    return column;
  }

  /** Runs inside the caller's transaction. `true`: it replaced what an earlier revision of the segment stored. */
  write(sql: SqlStorage, no: number): boolean {
    const isReplaced = dropIndex(sql, no);
    const rows = this.#times.length;
    if (rows === 0) return isReplaced;
    writeColumns(sql, no, new Map([...this.#columns].map(([field, column]) => [field, column.packed()])), this.#times);
    this.#keys.write(sql, { no, rows }, this.#classes?.places() ?? null);
    return isReplaced;
  }
}

/** The fields of a captcha's log record include the whole captcha record. */
function isCaptcha(record: object): record is CaptchaRecord {
  return 'captcha_type' in record;
}

/** `false`: the segment had none. */
export function dropIndex(sql: SqlStorage, segment: number): boolean {
  dropKeys(sql, segment);
  return dropColumns(sql, segment);
}

/** The keys that a sealed record is looked up by. */
export function* verdictKeys({ jti, ip, asn, request_path, fired_rules }: LogRecord): Generator<[KeyField, string]> {
  if (jti !== null) yield ['jti', jti];
  if (ip !== null) yield ['ip', ip];
  if (asn !== null) yield ['asn', String(asn)];
  yield ['path', request_path];
  for (const { id } of fired_rules) yield ['rule', id];
}

/** The key of its session lets the erasure of a session find the captchas that were solved in it. */
export function* captchaKeys({ jti, session, ip, user_account }: CaptchaRecord): Generator<[KeyField, string]> {
  yield ['jti', jti];
  if (session !== null) yield ['jti', session];
  if (ip !== null) yield ['ip', ip];
  if (user_account !== null) yield ['user_account', user_account];
}
