/**
 * Which blocks of a sealed segment hold a key: for each kind of key, 64 buckets of sorted
 * (hash, block) pairs. A look-up reads one small bucket per segment; a hash collision costs a block
 * read for nothing, never a wrong row, since rows are compared in full.
 */
import { textHash } from './text-hash.ts';

export const indexKinds = ['jti', 'ip', 'asn', 'path', 'rule'] as const;
export type IndexKind = (typeof indexKinds)[number];

const BUCKETS = 64;

export interface BlockPosition {
  segment: number;
  block: number;
}

/** Collects one segment's keys while its blocks are made. */
export class SegmentIndexBuilder {
  /** kind × bucket → pairs, as `hash * 2^16 + block`: exact in a double, sortable as a number. */
  readonly #pairs = new Map<number, Set<number>>();

  add(kind: IndexKind, key: string, block: number): void {
    const hash = textHash(key);
    const slot = indexKinds.indexOf(kind) * BUCKETS + (hash % BUCKETS);
    const pairs = this.#pairs.get(slot) ?? new Set<number>();
    pairs.add(hash * 65_536 + block);
    this.#pairs.set(slot, pairs);
  }

  /** To be called inside the transaction that seals the segment. */
  write(sql: SqlStorage, segment: number): void {
    for (const [slot, pairs] of this.#pairs) {
      const sorted = [...pairs].sort((a, b) => a - b);
      const data = new Uint32Array(sorted.length * 2);
      sorted.forEach((pair, index) => {
        data[index * 2] = Math.floor(pair / 65_536);
        data[index * 2 + 1] = pair % 65_536;
      });
      sql.exec(
        'INSERT OR REPLACE INTO segment_index (kind, bucket, segment, data) VALUES (?, ?, ?, ?)',
        Math.floor(slot / BUCKETS),
        slot % BUCKETS,
        segment,
        new Uint8Array(data.buffer),
      );
    }
  }
}

/** Every block that may hold the key, by segment. */
export function blocksWithKey(sql: SqlStorage, kind: IndexKind, key: string): BlockPosition[] {
  const hash = textHash(key);
  const found: BlockPosition[] = [];
  for (const { segment, data } of sql.exec<{ segment: number; data: ArrayBuffer }>(
    'SELECT segment, data FROM segment_index WHERE kind = ? AND bucket = ?',
    indexKinds.indexOf(kind),
    hash % BUCKETS,
  )) {
    const pairs = new Uint32Array(data);
    for (let at = lowerBound(pairs, hash); at < pairs.length && pairs[at] === hash; at += 2) {
      found.push({ segment, block: pairs[at + 1] as number });
    }
  }
  return found;
}

function lowerBound(pairs: Uint32Array, hash: number): number {
  let low = 0;
  let high = pairs.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pairs[middle * 2] as number) < hash) low = middle + 1;
    else high = middle;
  }
  return low * 2;
}
