/**
 * Packs verdicts of one isolate for one shard. Filters, counts and the hashes that tell a copy from another record are
 * worked out here, in the Worker, because a shard is one thread for all traffic of its log.
 */
import { decisions } from '../../../contract/vocabulary.ts';
import type { NumberedRow } from '../log-row.ts';
import { rangesOf } from '../number-ranges.ts';
import type { BatchCounters, PackedBatch, RowColumns } from '../packed-batch.ts';
import { packLines } from '../packed-lines.ts';
import { Aggregate } from '../rollup-aggregate.ts';
import { trafficCounters } from '../traffic-counters.ts';
import { bodyHash } from './body-hash.ts';

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
    const outcome = decisions.findIndex((name) => name === record.decision);
    maxTs = Math.max(maxTs, record.timestamp);
    hashes[index] = bodyHash(body);
    counts.add(record, record.timestamp, outcome);
    for (const name of trafficCounters(record)) counters.traffic[name] = (counters.traffic[name] ?? 0) + 1;
    if (!kept) {
      unkept.add(record, record.timestamp, outcome);
      continue;
    }
    columns.push([
      bodies.length,
      record.id,
      record.timestamp,
      record.jti,
      record.ip,
      record.asn,
      outcome,
      record.source,
      record.device_type,
      record.bot?.id ?? null,
      record.bot?.proof ?? null,
      record.request_path,
      record.fired_rules.map(({ id }) => id),
    ]);
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
