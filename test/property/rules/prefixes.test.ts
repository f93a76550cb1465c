/**
 * Thousands of address rules, compared with a scan of all of them. Sixty rules never fill a bucket of the index or a
 * chain of parents. Here many rules of every length are in a few ranges, and others are spread over all addresses.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalValue } from '../../../src/rules/canonical.ts';
import { createRuleset } from '../../../src/rules/ruleset.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { runs } from '../../support/properties.ts';
import { deltaOf, match, snapshotOf } from '../../unit/rules/rulesets.ts';
import { longText } from './oracle.ts';
import { type Random, randomFrom } from './random.ts';

const VISITORS_PER_TABLE = 150;

interface Prefix {
  /** The words of the address; unused words are 0. */
  words: readonly number[];
  /** One more than the family's width for a rule of type `ip`. */
  length: number;
  rule: EdgeRule;
}

interface World {
  seed: number;
  family: 4 | 6;
  rules: number;
  homes: number;
  /** The number of low bits of a home that change. */
  noiseBits: number;
  /** The share of addresses, in quarters, that are not near a home. */
  spread: number;
  /** The share of rules, in eighths, that a delta sets or removes. */
  changed: number;
}

const width = { 4: 32, 6: 128 } as const;

const mask = (bits: number): number => (bits <= 0 ? 0 : bits >= 32 ? -1 : -1 << (32 - bits));

function textOf(words: readonly number[], family: 4 | 6): string {
  const bits = words.slice(0, family === 4 ? 1 : 4).reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return longText({ family, bits });
}

/** Outside of `::ffff:0:0/96`, which the engine reads as IPv4 and other tests cover. */
function unmapped(words: number[], family: 4 | 6): number[] {
  const [w0, w1, w2] = words;
  if (family === 6 && w0 === 0 && w1 === 0 && w2 === 0xffff) words[2] = 0x8000_ffff;
  return words;
}

/** A home with some of its low bits changed, or any address. */
function addressFrom(random: Random, homes: readonly (readonly number[])[], world: World): number[] {
  if (random.below(4) < world.spread) return Array.from({ length: 4 }, random.word);
  const fixed = width[world.family] - random.below(Math.min(world.noiseBits, width[world.family]) + 1);
  return random.pick(homes).map((word, w) => (word ^ (random.word() & ~mask(fixed - 32 * w))) >>> 0);
}

function prefixFrom(random: Random, homes: readonly (readonly number[])[], world: World): Prefix {
  const bits = width[world.family];
  const kind = random.below(8);
  const length = kind < 2 ? bits + 1 : kind < 5 ? bits - random.below(bits >> 1) : random.below(bits + 1);
  const masked = addressFrom(random, homes, world).map((word, w) => (word & mask(length - 32 * w)) >>> 0);
  const words = unmapped(masked, world.family);
  const type = length > bits ? ('ip' as const) : ('ipMask' as const);
  const canonical = canonicalValue(type, textOf(words, world.family) + (type === 'ip' ? '' : `/${length}`));
  if (!canonical.ok) throw new Error(canonical.error);
  const verdict = random.pick(['allow', 'challenge', 'block'] as const);
  // Some rules are in the side table, which is searched by the rule's number.
  const mode = random.below(8) === 0 ? ('monitor' as const) : ('enforce' as const);
  return { words, length, rule: { type, value: canonical.value, verdict, mode } };
}

const keyOf = ({ rule }: Prefix): string => `${rule.type}:${rule.value}`;

/** The expected ids, the longest prefix first. */
function scan(prefixes: Iterable<Prefix>, address: readonly number[], family: 4 | 6): string[] {
  const found: Prefix[] = [];
  const wordCount = width[family] / 32;
  for (const prefix of prefixes) {
    const { words, length } = prefix;
    let differs = 0;
    for (let w = 0; w < wordCount; w++) differs |= (words[w]! ^ address[w]!) & mask(length - 32 * w);
    if (differs === 0) found.push(prefix);
  }
  return found
    .sort((a, b) => b.length - a.length)
    .map((prefix) => `${keyOf(prefix)} ${prefix.rule.verdict} ${prefix.rule.mode}`);
}

const world: fc.Arbitrary<World> = fc.record({
  seed: fc.nat({ max: 0xffff_ffff }),
  family: fc.constantFrom(4 as const, 6 as const),
  rules: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 6000 })),
  homes: fc.integer({ min: 1, max: 6 }),
  noiseBits: fc.constantFrom(3, 9, 16, 32, 70, 128),
  spread: fc.constantFrom(0, 1, 4),
  changed: fc.nat(4),
});

test('finds every prefix around an address among thousands, the longest first', () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const random = randomFrom(drawn.seed);
      const { family } = drawn;
      const homes = Array.from({ length: drawn.homes }, () =>
        random.pick([
          [0, 0, 0, 0],
          [-1, -1, -1, -1],
          [0x7fff_ffff, -1, -1, -1],
          Array.from({ length: 4 }, random.word),
        ]),
      ).map((words) => words.map((word) => word >>> 0));
      const standing = new Map<string, Prefix>();
      const set = (prefix: Prefix): void => void standing.set(keyOf(prefix), prefix);
      for (let i = 0; i < drawn.rules; i++) set(prefixFrom(random, homes, drawn));
      const base = snapshotOf(Array.from(standing.values(), ({ rule }) => rule));

      const removals: EdgeRule[] = [];
      const upserts = new Map<string, Prefix>();
      for (const [key, prefix] of standing) {
        if (random.below(8) >= drawn.changed) continue;
        if (random.below(2) === 0) removals.push(prefix.rule);
        else upserts.set(key, { ...prefix, rule: { ...prefix.rule, verdict: 'challenge' } });
      }
      for (const { type, value } of removals) standing.delete(`${type}:${value}`);
      const removed = new Set(removals.map(({ type, value }) => `${type}:${value}`));
      for (let i = 0; i < drawn.changed * 10; i++) {
        const prefix = prefixFrom(random, homes, drawn);
        if (!removed.has(keyOf(prefix))) upserts.set(keyOf(prefix), prefix);
      }
      for (const prefix of upserts.values()) set(prefix);
      const changes = Array.from(upserts.values(), ({ rule }) => rule);
      const ruleset = createRuleset(base, drawn.changed === 0 ? null : deltaOf(changes, removals));
      expect(ruleset.ruleCount).toBe(standing.size);

      const all = [...standing.values()];
      for (let i = 0; i < VISITORS_PER_TABLE; i++) {
        const near = all.length === 0 || random.below(2) === 0 ? null : random.pick(all);
        const visited = near
          ? near.words.map((word, w) => (word ^ (random.pick([0, -1]) & ~mask(near.length - 32 * w))) >>> 0)
          : addressFrom(random, homes, { ...drawn, spread: 2 });
        const address = unmapped(visited, family);
        const ip = textOf(address, family);
        const fired = match(ruleset, { ip }).fired.map(({ id, verdict, mode }) => `${id} ${verdict} ${mode}`);
        const right = scan(all, address, family);
        if (fired.join('\n') !== right.join('\n')) expect({ ip, fired }).toEqual({ ip, fired: right });
      }
    }),
    { numRuns: runs(60) },
  );
});
