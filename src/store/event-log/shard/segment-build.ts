/**
 * Builds a sealed segment from rows: NDJSON in blocks of 125 rows, each a gzip member of its own. Gzip members in a row
 * are a valid gzip file (RFC 1952 section 2.2), so an operator can `zcat` a segment and a reader can fetch one block by
 * its byte range.
 */
import type { CaptchaRecord } from '../captcha-record.ts';
import { CaptchaRunsBuilder } from './captcha-runs.ts';
import { logRecord } from '../log-record.ts';
import { gzipLines } from '../segment-block.ts';
import type { StoredRow } from '../log-row.ts';
import { SegmentColumnsBuilder } from '../columns/verdict-segment-columns.ts';
import { SegmentKeysBuilder } from '../columns/segment-keys.ts';

export interface BlockManifest {
  no: number;
  start: number;
  length: number;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

export interface BuiltSegment {
  bytes: Uint8Array;
  rows: number;
  blocks: BlockManifest[];
  keys: SegmentKeysBuilder;
  /** Of verdicts; empty for captchas. */
  columns: SegmentColumnsBuilder;
  /** Of captchas; empty for verdicts. */
  captchas: CaptchaRunsBuilder;
}

/**
 * `pages` yields rows oldest first, at most `BLOCK_ROWS` at a time; each page becomes one block. The same rows give the
 * same bytes, so writing the object again after a crash changes nothing.
 */
export async function buildSegment(
  pages: AsyncIterable<readonly StoredRow[]> | Iterable<readonly StoredRow[]>,
): Promise<BuiltSegment> {
  const parts: Uint8Array[] = [];
  const blocks: BlockManifest[] = [];
  const keys = new SegmentKeysBuilder();
  const columns = new SegmentColumnsBuilder();
  const captchas = new CaptchaRunsBuilder();
  let start = 0;
  let rows = 0;
  for await (const page of pages) {
    const [oldest, newest] = [page[0], page.at(-1)];
    if (!oldest || !newest) continue;
    for (const [at, { body }] of page.entries()) describe(body, rows + at, { keys, columns, captchas });
    const packed = await gzipLines(page.map((row) => row.body));
    blocks.push({
      no: blocks.length,
      start,
      length: packed.length,
      rows: page.length,
      minTs: oldest.timestamp,
      maxTs: newest.timestamp,
      maxId: newest.id,
    });
    parts.push(packed);
    start += packed.length;
    rows += page.length;
  }
  const bytes = new Uint8Array(start);
  parts.forEach((part, no) => bytes.set(part, blocks[no]?.start ?? 0));
  return { bytes, rows, blocks, keys, columns, captchas };
}

function describe(
  body: string,
  row: number,
  { keys, columns, captchas }: Pick<BuiltSegment, 'keys' | 'columns' | 'captchas'>,
): void {
  const record = logRecord(body);
  if (record.jti !== null) keys.add('jti', record.jti, row);
  if (isCaptcha(record)) {
    captchas.add(record);
    // Lets the erasure of a session find the captchas that were solved in it.
    if (record.session !== null) keys.add('jti', record.session, row);
    return;
  }
  columns.add(record);
  if (record.ip !== null) keys.add('ip', record.ip, row);
  if (record.asn !== null) keys.add('asn', String(record.asn), row);
  keys.add('path', record.request_path, row);
  for (const rule of record.fired_rules) keys.add('rule', rule.id, row);
}

/** The fields of a captcha's log record include the whole captcha record. */
function isCaptcha(record: object): record is CaptchaRecord {
  return 'captcha_type' in record;
}
