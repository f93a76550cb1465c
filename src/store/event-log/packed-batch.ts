/**
 * A batch of verdicts as the Worker sends it to a shard and the shard stores it: one row. The Worker has checked,
 * counted and serialised the records, so that the shard handles a batch and not its records one by one.
 */
import type { NumberRange } from './number-ranges.ts';

export interface PackedBatch {
  isolate: string;
  /** Numbers of its records; rising and disjoint. */
  ranges: NumberRange[];
  /** One hash per record, 32 bits each, in the order of the numbers: tells a copy from another record. */
  hashes: Uint32Array;
  /** The isolate has numbered this many records up to the end of the batch, and said that it numbered `announced`. */
  numbered: number;
  announced: number;
  /** When the service received it; epoch milliseconds. */
  heardAt: number;
  /** Newest time of its records; epoch milliseconds. */
  maxTs: number;
  /** `Aggregate.packed` of its records. */
  counts: string;
  /** The same of the records that no reader sees; empty: none. */
  unkept: string;
  /** JSON of `BatchCounters`. */
  counters: string;
  /** Rows that readers may see. */
  rows: number;
  /** JSON: one `RowColumns` for each of them. */
  columns: string;
  /** Their JSON, of `packLines`. */
  bodies: Uint8Array<ArrayBuffer>;
}

export interface BatchCounters {
  /** Of the records: requests by decision and source, and so on. */
  traffic: Record<string, number>;
  /** What the edge counted, and how many records were refused. */
  edge: Record<string, number>;
}

/** What filters and sorting need of a row, in this order, so that they read no body. */
export type RowColumns = readonly [
  /** Number among the rows of the batch as it was first stored. */
  at: number,
  id: string,
  timestamp: number,
  jti: string | null,
  ip: string | null,
  asn: number | null,
  outcome: number,
  source: string,
  device: string,
  bot: string | null,
  proof: string | null,
  path: string,
  rules: readonly string[],
];

/** What a shard says of one batch. `known` is empty: the batch is stored. Else nothing of it is. */
export interface BatchAnswer {
  /** Numbers of the batch that are stored already. */
  known: NumberRange[];
  /** How many of these have another body. The stored one stays. */
  conflicting: number;
}
