/**
 * How many inputs property tests generate, and from which seed. `npm test` generates few, from a fixed seed, so that it is
 * fast and says the same each time. With FULL_PROPERTIES=1, which `npm run test:all` sets, all are generated from a new
 * seed. The run prints it at its start, with the line that runs it again.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** From `vitest.config.ts`. */
    properties: { isFull: boolean; seed: number };
  }
}

const FEW_OF = 20;
const FEW_MIN = 20;
const SOME_OF = 5;

const { isFull, seed } = inject('properties');

/** The seed of everything that is generated in this run. */
export const propertySeed = seed;

/** How many of `all` inputs this run generates. */
export function runs(all: number): number {
  return isFull ? all : Math.min(all, Math.max(FEW_MIN, Math.ceil(all / FEW_OF)));
}

/** The rows of a long table that this run goes through: all, or every fifth. */
export function some<Row>(all: readonly Row[]): Row[] {
  return all.filter((_, index) => isFull || index % SOME_OF === 0);
}
