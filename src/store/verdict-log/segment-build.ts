/**
 * Rows to a sealed segment: NDJSON in blocks of 500 rows, each its own gzip member. The members one
 * after another are a valid gzip file (RFC 1952 section 2.2), so an operator can `zcat` a segment,
 * and a reader can fetch one block by its byte range.
 */
import type { CaptchaRecord } from '../captcha-log/captcha-record.ts';
import { CaptchaRunsBuilder } from '../captcha-log/runs.ts';
import { logRecord } from './log-record.ts';
import type { StoredRow } from './row.ts';
import { SegmentIndexBuilder } from './segment-index.ts';

/** About 40 kB compressed: one small range read, 3 ms to unpack and parse. */
export const BLOCK_ROWS = 500;

export interface BlockManifest {
  no: number;
  start: number;
  length: number;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
  /** Distinct values as `,a,b,`; a reader skips blocks that cannot match. */
  outcomes: string;
  sources: string;
  devices: string;
  maxFired: number;
}

export interface BuiltSegment {
  bytes: Uint8Array;
  rows: number;
  blocks: BlockManifest[];
  index: SegmentIndexBuilder;
  /** Of captchas; empty for verdicts. */
  runs: CaptchaRunsBuilder;
}

/**
 * `pages` yields rows oldest first, at most `BLOCK_ROWS` at a time; each page becomes one block.
 * Deterministic: the same rows give the same bytes, so a put repeated after a crash changes nothing.
 */
export async function buildSegment(
  pages: AsyncIterable<readonly StoredRow[]> | Iterable<readonly StoredRow[]>,
): Promise<BuiltSegment> {
  const parts: Uint8Array[] = [];
  const blocks: BlockManifest[] = [];
  const index = new SegmentIndexBuilder();
  const runs = new CaptchaRunsBuilder();
  let start = 0;
  let rows = 0;
  for await (const page of pages) {
    if (page.length === 0) continue;
    const packed = await gzip(page.map((row) => `${row.body}\n`).join(''));
    blocks.push({ ...describe(page, blocks.length, index, runs), start, length: packed.length });
    parts.push(packed);
    start += packed.length;
    rows += page.length;
  }
  const bytes = new Uint8Array(start);
  parts.forEach((part, no) => bytes.set(part, blocks[no]?.start ?? 0));
  return { bytes, rows, blocks, index, runs };
}

function describe(
  page: readonly StoredRow[],
  no: number,
  index: SegmentIndexBuilder,
  runs: CaptchaRunsBuilder,
): Omit<BlockManifest, 'start' | 'length'> {
  const outcomes = new Set<string>();
  const sources = new Set<string>();
  const devices = new Set<string>();
  let maxFired = 0;
  for (const row of page) {
    const record = logRecord(row.body);
    outcomes.add(record.decision);
    sources.add(record.source);
    devices.add(record.device_type);
    maxFired = Math.max(maxFired, record.fired_rules.length);
    if (record.jti !== null) index.add('jti', record.jti, no);
    if (record.ip !== null) index.add('ip', record.ip, no);
    if (record.asn !== null) index.add('asn', String(record.asn), no);
    index.add('path', record.request_path, no);
    for (const rule of record.fired_rules) index.add('rule', rule.id, no);
    if (isCaptcha(record)) {
      runs.add(record);
      // So that erasing a session finds the captchas that were solved in it.
      if (record.session !== null) index.add('jti', record.session, no);
    }
  }
  const newest = page.at(-1) as StoredRow;
  return {
    no,
    rows: page.length,
    minTs: (page[0] as StoredRow).timestamp,
    maxTs: newest.timestamp,
    maxId: newest.id,
    outcomes: listed(outcomes),
    sources: listed(sources),
    devices: listed(devices),
    maxFired,
  };
}

/** The terms of a captcha hold the whole record. */
function isCaptcha(record: object): record is CaptchaRecord {
  return 'captcha_type' in record;
}

function listed(values: ReadonlySet<string>): string {
  return `,${[...values].sort().join(',')},`;
}

async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Response(text).body?.pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream ?? null).arrayBuffer());
}

/** The JSON lines of one block. Throws when the bytes are not what was sealed. */
export async function blockLines(bytes: ArrayBuffer): Promise<string[]> {
  const stream = new Response(bytes).body?.pipeThrough(new DecompressionStream('gzip'));
  const text = await new Response(stream ?? null).text();
  return text.split('\n').slice(0, -1);
}
