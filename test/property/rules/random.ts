/**
 * Numbers from a seed. fast-check takes seconds to generate a ruleset that fills the engine's tables rule by rule. From
 * one seed it takes milliseconds, and the seed reproduces it.
 */
export interface Random {
  /** An unsigned number of 32 bits. */
  word: () => number;
  /** 0 to `count - 1`. */
  below: (count: number) => number;
  pick: <Item>(items: readonly Item[]) => Item;
}

/** The generator mulberry32. */
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
