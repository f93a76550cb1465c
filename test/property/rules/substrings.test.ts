/**
 * Hundreds of user agent rules, compared with `String.includes`. With few letters, patterns repeat, overlap and
 * continue each other. With many letters they differ early, so that most of each is compared directly. A bitmap with
 * additional bits, which may take time but must not change a match, causes a false start at nearly every place.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalValue } from '../../../src/rules/canonical.ts';
import { Hits } from '../../../src/rules/hits.ts';
import { readSnapshot } from '../../../src/rules/layout.ts';
import { PathMeter } from '../../../src/rules/substring-paths.ts';
import { type Snapshot, openSnapshot } from '../../../src/rules/snapshot.ts';
import { runs } from '../../support/properties.ts';
import { compile } from '../../unit/rules/rulesets.ts';
import { type Random, randomFrom } from './random.ts';

const HEADERS_PER_RULESET = 100;

const ascii = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i));
const latin = Array.from({ length: 96 }, (_, i) => String.fromCharCode(160 + i));
const alphabets = [
  ['a'],
  ['a', 'b'],
  ['a', 'B', '/'],
  // Pairs that differ in one bit, the bit that distinguishes upper and lower case.
  ['@', '`', '[', '{', '\\', '|', ']', '}', '^', '~', '_', '?', '\t', ')'],
  ['a', 'É', 'é', 'Σ', 'ς', 'K', '\u212a', 'İ', '😀', '\u93bf', 'æ'],
  ascii,
  [...ascii, ...latin],
];

interface World {
  seed: number;
  alphabet: number;
  rules: number;
  maxLength: number;
  /** Additional bits that are set in the bitmap: none, a quarter, all. */
  falseStarts: number;
}

function textOf(random: Random, letters: readonly string[], length: number): string {
  return Array.from({ length }, () => random.pick(letters)).join('');
}

/** New texts, and parts, continuations and repetitions of earlier ones. */
function patternsOf(random: Random, letters: readonly string[], { rules, maxLength }: World): string[] {
  const texts: string[] = [];
  while (texts.length < rules) {
    const before = texts.length === 0 ? '' : random.pick(texts);
    const length = 1 + random.below(maxLength);
    const kind = random.below(8);
    let text = textOf(random, letters, length);
    if (kind === 0) text = before.slice(random.below(before.length + 1)) + text.slice(0, 2);
    else if (kind === 1) text = before.slice(0, random.below(before.length + 1)) + text.slice(0, 2);
    else if (kind === 2) text = text.slice(0, 3).repeat(length);
    texts.push(text.slice(0, maxLength) || 'a');
  }
  return texts;
}

function headerOf(random: Random, letters: readonly string[], patterns: readonly string[]): string {
  let header = '';
  for (let parts = random.below(4); parts >= 0; parts--) {
    const pattern = random.pick(patterns);
    const kind = random.below(6);
    if (kind < 3) header += pattern;
    else if (kind === 3) header += pattern.slice(0, random.below(pattern.length + 1));
    else if (kind === 4) header += pattern.slice(random.below(pattern.length + 1));
    else header += textOf(random, random.below(4) === 0 ? latin : letters, random.below(6));
  }
  return random.below(3) === 0 ? header.toUpperCase() : header;
}

/** The snapshot with `falseStarts` added to its bitmap. */
function opened(bytes: Uint8Array, random: Random, falseStarts: number): Snapshot {
  const read = readSnapshot(bytes);
  if (!read.ok) throw new Error(read.error);
  const bits = read.value.sections.uaGramBits;
  for (let i = 0; i < bits.length; i++) {
    bits[i] = bits[i]! | [0, random.word() & random.word(), -1][falseStarts]!;
  }
  const result = openSnapshot(bytes);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

function statesIn(bytes: Uint8Array): number {
  const read = readSnapshot(bytes);
  if (!read.ok) throw new Error(read.error);
  return read.value.sections.uaFails.length;
}

/** As the service counts them before it accepts rules. */
function statesOf(values: Iterable<string>): number {
  const meter = new PathMeter();
  const sorted = Array.from(values, (value) => Buffer.from(value)).sort((a, b) => Buffer.compare(a, b));
  for (const bytes of sorted) meter.measureBefore(bytes);
  meter.measureBefore(null);
  return meter.states;
}

/** Lower-case letters that fold to another one. */
const sameLetter: Readonly<Record<string, string>> = { ς: 'σ', µ: 'μ', ſ: 's' };

const world: fc.Arbitrary<World> = fc.record({
  seed: fc.nat({ max: 0xffff_ffff }),
  alphabet: fc.nat(alphabets.length - 1),
  rules: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 600 })),
  maxLength: fc.constantFrom(3, 4, 5, 6, 9, 16, 60, 290),
  falseStarts: fc.nat(2),
});

test('finds exactly the substrings that a header contains', () => {
  const hits = new Hits();
  fc.assert(
    fc.property(world, (drawn) => {
      const random = randomFrom(drawn.seed);
      const letters = alphabets[drawn.alphabet]!;
      const values = new Set<string>();
      for (const text of patternsOf(random, letters, drawn)) {
        const canonical = canonicalValue('userAgent', text);
        if (canonical.ok) values.add(canonical.value);
      }
      const rules = Array.from(values, (value) => ({ type: 'userAgent', value, verdict: 'block' }) as const);
      const bytes = compile(rules);
      expect(statesIn(bytes)).toBe(statesOf(values));
      const snapshot = opened(bytes, random, drawn.falseStarts);
      const patterns = Array.from(values);
      for (let i = 0; i < HEADERS_PER_RULESET && patterns.length > 0; i++) {
        const header = headerOf(random, letters, patterns);
        const folded = Array.from(header, (char) => sameLetter[char] ?? char.toLowerCase()).join('');
        hits.clear();
        snapshot.findUserAgents(header, hits);
        const found = Array.from(hits.refs.subarray(0, hits.count), (ref) => snapshot.value(ref >>> 1));
        const there = patterns.filter((pattern) => folded.includes(pattern));
        if (found.length !== there.length || found.toSorted().join('\n') !== there.toSorted().join('\n')) {
          expect({ header, found: found.toSorted() }).toEqual({ header, found: there.toSorted() });
        }
      }
    }),
    { numRuns: runs(200) },
  );
});
