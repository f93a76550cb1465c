/**
 * Draws the parameters of questions. The same seed draws the same, so that recorded questions are the same everywhere.
 */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from `least` to `most`. By Mulberry32, which is public domain. */
  number(least: number, most: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const share = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return least + Math.floor(share * (most - least + 1));
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.number(0, items.length - 1)]!;
  }

  /** `count` different items, or all where there are fewer, in an order of their own. */
  some<Item>(items: readonly Item[], count: number): Item[] {
    const left = [...items];
    const drawn: Item[] = [];
    while (drawn.length < count && left.length > 0) drawn.push(...left.splice(this.number(0, left.length - 1), 1));
    return drawn;
  }

  list<Item>(count: number, item: () => Item): Item[] {
    return Array.from({ length: count }, item);
  }

  word(length = this.number(3, 8), letters = 'abcdefghijklmnopqrstuvwxyz'): string {
    return this.list(length, () => letters.charAt(this.number(0, letters.length - 1))).join('');
  }
}
