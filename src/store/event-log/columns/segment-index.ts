/**
 * What a sealed segment leaves in the database to be searched by: built from its records while the object is built, and
 * written in the transaction that seals it. It can be made again from the object at any time.
 */
import type { LogRecord } from '../log-record.ts';
import type { CaptchaRecord } from '../captcha-record.ts';
import { CaptchaRunsBuilder, dropRuns } from '../shard/captcha-runs.ts';
import { dropKeys, SegmentKeysBuilder } from './segment-keys.ts';
import { dropSegmentColumns, SegmentColumnsBuilder } from './verdict-segment-columns.ts';

export class SegmentIndex {
  readonly #keys = new SegmentKeysBuilder();
  readonly #columns = new SegmentColumnsBuilder();
  readonly #captchas = new CaptchaRunsBuilder();
  #rows = 0;

  /** Records arrive in the order of the segment's rows: oldest first. */
  add(record: LogRecord): void {
    const row = this.#rows++;
    const keys = this.#keys;
    if (record.jti !== null) keys.add('jti', record.jti, row);
    if (isCaptcha(record)) {
      this.#captchas.add(record);
      // Lets the erasure of a session find the captchas that were solved in it.
      if (record.session !== null) keys.add('jti', record.session, row);
      return;
    }
    this.#columns.add(record);
    if (record.ip !== null) keys.add('ip', record.ip, row);
    if (record.asn !== null) keys.add('asn', String(record.asn), row);
    keys.add('path', record.request_path, row);
    for (const rule of record.fired_rules) keys.add('rule', rule.id, row);
  }

  /** Runs inside the caller's transaction and replaces what an earlier revision of the segment stored. */
  write(sql: SqlStorage, segment: number): void {
    this.#columns.write(sql, segment, this.#keys.write(sql, segment));
    this.#captchas.write(sql, segment);
  }
}

export function dropIndex(sql: SqlStorage, segment: number): void {
  dropKeys(sql, segment);
  dropSegmentColumns(sql, segment);
  dropRuns(sql, segment);
}

/** The fields of a captcha's log record include the whole captcha record. */
function isCaptcha(record: object): record is CaptchaRecord {
  return 'captcha_type' in record;
}
