/** The synchronous HMAC, compared with Node's for lengths on both sides of each block boundary. */
import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';

const expected = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest('hex');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('the HMAC agrees with Node for every length from 0 to 300', () => {
  const key = new Uint8Array(32).fill(7);
  const hmac = new HmacSha256(key);
  for (let length = 0; length <= 300; length++) {
    const text = 'x'.repeat(length);
    expect(hex(hmac.sign(text))).toBe(expected(key, text));
  }
});

test('the HMAC agrees with Node for any text and key', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.string({ unit: 'grapheme', maxLength: 2000 }), (key, text) => {
      expect(hex(new HmacSha256(key).sign(text))).toBe(expected(key, text));
    }),
  );
});

test('the HMAC of a text that is longer than any before it agrees with Node', () => {
  const key = new Uint8Array(32).fill(3);
  for (const length of [2000, 20_000, 200_000]) {
    const text = '€'.repeat(length);
    expect(hex(new HmacSha256(key).sign(text))).toBe(expected(key, text));
  }
});

test('a key has at most the bytes of a block', () => {
  const key = new Uint8Array(64).fill(3);
  expect(hex(new HmacSha256(key).sign('x'))).toBe(expected(key, 'x'));
  expect(() => new HmacSha256(new Uint8Array(65))).toThrow('HMAC key longer than a block');
});
