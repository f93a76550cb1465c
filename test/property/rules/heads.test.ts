/**
 * Headers with beginnings that many share, of which the matcher remembers what they hold. Each is also searched by a
 * matcher that remembers nothing: the same rules in the same order.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HEAD_CHARS } from '../../../src/rules/head-memory.ts';
import { Hits } from '../../../src/rules/hits.ts';
import { openSnapshot, type Snapshot } from '../../../src/rules/snapshot.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { runs } from '../../support/properties.ts';
import { compile } from '../../unit/rules/rulesets.ts';
import { type Random, randomFrom } from './random.ts';

const HEADERS_PER_RULESET = 40;
const alphabets = ['a', 'ab', 'abc/', 'abcdefghijklmnopqrstuvwxyz0123456789', 'abcdé😀'];

const opened = (bytes: Uint8Array): Snapshot => {
  const result = openSnapshot(bytes);
  if (!result.ok) throw new Error(result.error);
  return result.value;
};

const textOf = (random: Random, letters: readonly string[], length: number): string =>
  Array.from({ length }, () => random.pick(letters)).join('');

/** The numbers of the rules that a header contains, in the order in which they are found. */
function found(snapshot: Snapshot, header: string): number[] {
  const hits = new Hits();
  snapshot.findUserAgents(header, hits);
  return [...hits.refs.subarray(0, hits.count)];
}

const world = fc.record({
  seed: fc.nat({ max: 0xffff_ffff }),
  alphabet: fc.nat(alphabets.length - 1),
  rules: fc.integer({ min: 1, max: 30 }),
  /** With 120, rules reach over the end of a beginning. */
  maxLength: fc.constantFrom(3, 5, 16, 120),
  heads: fc.integer({ min: 1, max: 5 }),
});

describe('a header whose beginning is remembered', () => {
  test('holds the rules that it holds by itself, in the same order', () => {
    let shared = 0;
    fc.assert(
      fc.property(world, (drawn) => {
        const random = randomFrom(drawn.seed);
        const letters = Array.from(alphabets[drawn.alphabet]!);
        const heads = Array.from({ length: drawn.heads }, () => textOf(random, letters, 60 + random.below(80)));
        const values = new Set(
          Array.from({ length: drawn.rules }, () => {
            const length = 1 + random.below(drawn.maxLength);
            // Half of them are parts of a header, most of which lie around the end of what is remembered.
            const at = Math.max(0, HEAD_CHARS - random.below(length + 20));
            const part = random
              .pick(heads)
              .slice(at, at + length)
              .toWellFormed();
            return random.below(2) === 0 || part === '' ? textOf(random, letters, length) : part;
          }),
        );
        const rules = Array.from(values, (value): EdgeRule => ({ type: 'userAgent', value, verdict: 'block' }));
        const bytes = compile(rules);
        const remembering = opened(bytes);
        for (let i = 0; i < HEADERS_PER_RULESET; i++) {
          const head = random.pick(heads);
          const tail = textOf(random, random.below(4) === 0 ? [...letters, 'é', 'ş'] : letters, random.below(70));
          const header = random.below(3) === 0 ? (head + tail).toUpperCase() : head + tail;
          const right = found(opened(bytes), header);
          if (right.length > 0) shared++;
          const remembered = found(remembering, header);
          if (remembered.join() !== right.join()) expect({ header, remembered }).toEqual({ header, remembered: right });
        }
      }),
      { numRuns: runs(150) },
    );
    expect(shared / runs(150)).toBeGreaterThan(7);
  });
});
