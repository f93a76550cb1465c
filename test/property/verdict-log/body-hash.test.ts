/** The hash that tells a copy of a record from another record with its number. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyHash } from '../../../src/store/event-log/client/pack-batch.ts';

const body = fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => JSON.stringify({ text }));

test('the same text has the same hash, whatever was hashed before', () => {
  fc.assert(
    fc.property(body, body, (one, other) => {
      const first = bodyHash(one);
      bodyHash(other);
      expect(bodyHash(one)).toBe(first);
      expect(Number.isInteger(first) && first >= 0 && first < 2 ** 32).toBe(true);
    }),
  );
});

test('a text with one other digit has another hash', () => {
  fc.assert(
    fc.property(body, body, fc.nat(9), fc.nat(9), (before, after, one, other) => {
      fc.pre(one !== other);
      expect(bodyHash(`${before}${one}${after}`)).not.toBe(bodyHash(`${before}${other}${after}`));
    }),
  );
});

test('texts of a batch have different hashes, also longer ones than any before', () => {
  const texts = Array.from({ length: 300 }, (_, at) => JSON.stringify({ at, text: 'é'.repeat(at * 100) }));
  expect(new Set(texts.map(bodyHash)).size).toBe(texts.length);
});
