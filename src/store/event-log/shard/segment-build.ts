/**
 * Builds a sealed segment from rows: NDJSON in blocks of 125 rows, each a gzip member of its own. Gzip members in a row
 * are a valid gzip file (RFC 1952 section 2.2), so an operator can `zcat` a segment and a reader can fetch one block by
 * its byte range.
 */
import { logRecord } from '../log-record.ts';
import { gzipLines } from '../segment-block.ts';
import type { StoredRow } from '../log-row.ts';
import { SegmentIndex } from '../columns/segment-index.ts';

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
  index: SegmentIndex;
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
  const index = new SegmentIndex();
  let start = 0;
  let rows = 0;
  for await (const page of pages) {
    const [oldest, newest] = [page[0], page.at(-1)];
    if (!oldest || !newest) continue;
    for (const { body } of page) index.add(logRecord(body));
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
  return { bytes, rows, blocks, index };
}
