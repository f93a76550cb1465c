/** The codecs of bytes against Node's own, and against arbitrary texts: one text for one byte string. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBase64url, encodeBase64url } from '../../../src/bytes/base64url.ts';
import { decodeHex, encodeHex } from '../../../src/bytes/hex.ts';
import { encodeLargeBase64url } from '../../../src/bytes/large-base64url.ts';

const bytes = fc.uint8Array({ maxLength: 300 }).map((given) => new Uint8Array(given));

const codecs = [
  { name: 'base64url', encode: encodeBase64url, decode: decodeBase64url, near: /^[A-Za-z0-9_-]{0,40}$/ },
  { name: 'hex', encode: encodeHex, decode: decodeHex, near: /^[0-9a-fA-F]{0,40}$/ },
] as const;

describe.each(codecs)('$name', ({ name, encode, decode, near }) => {
  test('agrees with Node in both directions', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const text = encode(given);
        expect(text).toBe(Buffer.from(given).toString(name));
        expect(decode(text)).toEqual(given);
      }),
    );
  });

  test('decodes only a text that it would encode', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.stringMatching(near)), (text) => {
        const read = decode(text);
        if (read !== null) expect(encode(read)).toBe(text);
      }),
    );
  });
});

test('large and small values have one base64url', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      expect(encodeLargeBase64url(given)).toBe(encodeBase64url(given));
    }),
  );
  const large = Uint8Array.from({ length: 100_001 }, (_, index) => (index * 2_654_435_761) >>> 24);
  expect(encodeLargeBase64url(large)).toBe(Buffer.from(large).toString('base64url'));
});
