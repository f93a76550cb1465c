/**
 * Where a look-up leaves what it found: rule references with their rank, in buffers that are kept and
 * reused, so that matching allocates nothing until something fired.
 */

const FIRST_CAPACITY = 512;

/** Ranks of network rules rise with specificity: country, AS, prefixes by length, address. */
export const RANK_COUNTRY = 1;
export const RANK_ASN = 2;
export const RANK_PREFIX = 100;

export class Hits {
  count = 0;
  /** A rule's number and which of two snapshots it is in: `rule * 2 + source`. */
  refs = new Uint32Array(FIRST_CAPACITY);
  ranks = new Uint16Array(FIRST_CAPACITY);
  /** 0 while the base is searched, 1 while the overlay is. */
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

  /** Highest rank first. Two sorted runs at most, so insertion is the shortest sort. */
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
