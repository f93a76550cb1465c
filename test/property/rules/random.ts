/**
 * Numbers from a seed. A rule set large enough to crowd the engine's tables takes fast-check seconds to draw member by
 * member; drawn from one number it takes milliseconds, and that number still repeats it.
 */
export interface Random {
  /** 32 bits, unsigned. */
  word: () => number;
  /** 0 to `count - 1`. */
  below: (count: number) => number;
  pick: <Item>(items: readonly Item[]) => Item;
}

/** mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  const below = (count: number): number => word() % count;
  return { word, below, pick: (items) => items[below(items.length)]! };
}
