/**
 * Sums per value id over many buckets. A week of hours has millions of counts, so sums are in flat arrays, in chunks
 * that exist only for ids that occur.
 */
import type { Counts } from '../shard-rpc.ts';

const CHUNK_IDS = 4096;

export class ValueTotals {
  readonly #chunks = new Map<number, Float64Array<ArrayBuffer>>();
  #chunkNo = Number.NaN;
  #chunk = new Float64Array(0);

  add(id: number, allow: number, challenge: number, block: number): void {
    const at = this.#placeOf(id);
    const chunk = this.#chunk;
    chunk[at] = (chunk[at] as number) + allow;
    chunk[at + 1] = (chunk[at + 1] as number) + challenge;
    chunk[at + 2] = (chunk[at + 2] as number) + block;
  }

  /** Returns what is left to subtract where the sum does not reach. */
  subtract(id: number, counts: Readonly<Counts>): Counts {
    const at = this.#placeOf(id);
    const chunk = this.#chunk;
    return counts.map((count, outcome) => {
      const taken = Math.min(count, chunk[at + outcome] as number);
      chunk[at + outcome] = (chunk[at + outcome] as number) - taken;
      return count - taken;
    }) as Counts;
  }

  /** Makes the chunk of an id the current one and returns the place in it. */
  #placeOf(id: number): number {
    const no = Math.floor(id / CHUNK_IDS);
    // Ids rise within a bucket, so most often the chunk is the same as before.
    if (no !== this.#chunkNo) {
      this.#chunk = this.#chunks.get(no) ?? new Float64Array(CHUNK_IDS * 3);
      this.#chunks.set(no, this.#chunk);
      this.#chunkNo = no;
    }
    return (id - no * CHUNK_IDS) * 3;
  }

  /** Every id with a sum above zero. */
  forEach(visit: (id: number, allow: number, challenge: number, block: number) => void): void {
    for (const [no, chunk] of this.#chunks) {
      for (let at = 0; at < chunk.length; at += 3) {
        const allow = chunk[at] as number;
        const challenge = chunk[at + 1] as number;
        const block = chunk[at + 2] as number;
        if (allow + challenge + block > 0) visit(no * CHUNK_IDS + at / 3, allow, challenge, block);
      }
    }
  }
}
