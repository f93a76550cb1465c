/**
 * The results of a lookup: rule references with their rank. The buffers are reused, so matching allocates nothing
 * until a rule fires.
 */

const FIRST_CAPACITY = 512;

/** More specific network rules have higher ranks: country, AS number, prefixes by length, address. */
export const RANK_COUNTRY = 1;
export const RANK_ASN = 2;
export const RANK_PREFIX = 100;

export class Hits {
  count = 0;
  /** The number of a rule and the snapshot it is in: `rule * 2 + source`. */
  refs = new Uint32Array(FIRST_CAPACITY);
  ranks = new Uint16Array(FIRST_CAPACITY);
  /** The snapshot that is being searched: 0 for the base, 1 for the overlay. */
  source = 0;

  clear(): void {
    this.count = 0;
  }

  push(rule: number, rank: number): void {
    if (this.count === this.refs.length) this.#grow();
    this.refs[this.count] = rule * 2 + this.source;
    this.ranks[this.count++] = rank;
  }

  #grow(): void {
    const refs = new Uint32Array(this.refs.length * 2);
    const ranks = new Uint16Array(this.ranks.length * 2);
    refs.set(this.refs);
    ranks.set(this.ranks);
    this.refs = refs;
    this.ranks = ranks;
  }

  /** Highest rank first. The references are at most two sorted runs, for which an insertion sort is best. */
  sortByRank(): void {
    const { refs, ranks } = this;
    for (let i = 1; i < this.count; i++) {
      const rank = ranks[i] ?? 0;
      const ref = refs[i] ?? 0;
      let at = i;
      while (at > 0 && (ranks[at - 1] ?? 0) < rank) {
        ranks[at] = ranks[at - 1] ?? 0;
        refs[at] = refs[at - 1] ?? 0;
        at--;
      }
      ranks[at] = rank;
      refs[at] = ref;
    }
  }
}
