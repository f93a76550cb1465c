/**
 * Packs verdicts of one isolate for one shard. Filters, counts and the hashes that tell a copy from another record are
 * worked out here, in the Worker, because a shard is one thread for all traffic of its log.
 */
import type { NumberedRow } from '../log-row.ts';
import { rangesOf } from '../number-ranges.ts';
import type { BatchCounters, PackedBatch, RowColumns } from '../packed-batch.ts';
import { packLines } from '../packed-lines.ts';
import { filteredRow } from '../row-filter.ts';
import { Aggregate } from '../rollup-aggregate.ts';
import { type LogRecord, outcomeOf } from '../log-record.ts';

/** A row in SQLite holds 2 MB, and a character takes three bytes at most. Compressed texts count whole. */
const PACKED_MAX_CHARS = 630_000;

export interface BatchSender {
  isolate: string;
  numbered: number;
  announced: number;
  heardAt: number;
}

/** One packed batch, or several when the records are too large for one. `rows` rise by number, and none repeats. */
export function packBatch(
  sender: BatchSender,
  rows: readonly NumberedRow[],
  edgeCounters: Readonly<Record<string, number>>,
): PackedBatch[] {
  const { bodies, ...packed } = packOne(sender, rows, edgeCounters);
  const texts = [packed.columns, packed.counts, packed.unkept, packed.counters, ...bodies];
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= PACKED_MAX_CHARS || rows.length === 1) return [{ ...packed, bodies: packLines(bodies) }];
  const half = rows.length >>> 1;
  return [...packBatch(sender, rows.slice(0, half), edgeCounters), ...packBatch(sender, rows.slice(half), {})];
}

function packOne(
  sender: BatchSender,
  rows: readonly NumberedRow[],
  edgeCounters: Readonly<Record<string, number>>,
): Omit<PackedBatch, 'bodies'> & { bodies: string[] } {
  const counts = new Aggregate();
  const unkept = new Aggregate();
  const counters: BatchCounters = { traffic: {}, edge: { ...edgeCounters } };
  const hashes = new Uint32Array(rows.length);
  const columns: RowColumns[] = [];
  const bodies: string[] = [];
  let maxTs = 0;
  for (const [index, { record, kept, body }] of rows.entries()) {
    const outcome = outcomeOf(record.decision);
    maxTs = Math.max(maxTs, record.timestamp);
    hashes[index] = bodyHash(body);
    counts.add(record, record.timestamp, outcome);
    for (const name of trafficCounters(record)) counters.traffic[name] = (counters.traffic[name] ?? 0) + 1;
    if (!kept) {
      unkept.add(record, record.timestamp, outcome);
      continue;
    }
    const { id, timestamp, jti, ip, asn, source, device, bot, proof, path, rules } = filteredRow(record);
    columns.push([bodies.length, id, timestamp, jti, ip, asn, outcome, source, device, bot, proof, path, rules]);
    bodies.push(body);
  }
  return {
    ...sender,
    ranges: rangesOf(rows.map(({ record }) => record.edge.seq)),
    hashes,
    maxTs,
    counts: counts.packed(),
    unkept: unkept.rows === 0 ? '' : unkept.packed(),
    counters: JSON.stringify(counters),
    rows: bodies.length,
    columns: JSON.stringify(columns),
    bodies,
  };
}

/** What a stored verdict adds to the counters of its log (`GET /protect/metrics`). Few names: a status that is none is not counted. */
function trafficCounters({ decision, source, status, origin_ms: originMs }: LogRecord): string[] {
  const counted = [`requests{decision="${decision}"}`, `request_sources{source="${source}"}`];
  const hundreds = Math.trunc(Number(status) / 100);
  if (originMs != null && hundreds >= 1 && hundreds <= 9) counted.push(`origin_responses{class="${hundreds}xx"}`);
  return counted;
}

const encoder = new TextEncoder();
/** Of UTF-8, which takes three bytes for a UTF-16 unit at most, and the last word's filling. */
const bytesFor = (text: string): number => 4 * Math.ceil((text.length * 3) / 4 + 1);
let bytes = new Uint8Array(32_768);
let words = new Uint32Array(bytes.buffer);

/**
 * 32 bits of hash over the JSON of a record: it tells a copy from another record. It takes words of four bytes, because
 * it reads the whole text of every verdict. Texts that differ in one word only never have the same hash, others rarely.
 */
export function bodyHash(body: string): number {
  if (bytes.length < bytesFor(body)) {
    bytes = new Uint8Array(bytesFor(body));
    words = new Uint32Array(bytes.buffer);
  }
  const { written } = encoder.encodeInto(body, bytes);
  bytes.fill(0, written, written + 4);
  const end = Math.ceil(written / 4);
  let hash = 0x811c9dc5;
  for (let at = 0; at < end; at++) {
    hash = Math.imul(hash ^ (words[at] as number), 0x01000193);
    // A product carries nothing downwards.
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
