/** In workerd, because Node has no `crypto.subtle.timingSafeEqual`. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSameSecret } from '../../../src/bytes/same-secret.ts';
import { expectRows } from '../../support/rows.ts';

const ascii = fc.string({ maxLength: 600 });

test('a secret is the same as itself and as no other text', () => {
  fc.assert(
    fc.property(ascii, ascii, (a, b) => {
      expect(isSameSecret(a, a)).toBe(true);
      expect(isSameSecret(a, b)).toBe(a === b);
    }),
  );
});

test('one character that is changed, dropped or added makes it another secret', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 600 }),
      fc.nat(),
      fc.string({ minLength: 1 }),
      (secret, at, more) => {
        const cut = at % secret.length;
        expect(isSameSecret(secret.slice(0, cut) + secret.slice(cut + 1), secret)).toBe(false);
        expect(isSameSecret(`${secret.slice(0, cut)}é${secret.slice(cut + 1)}`, secret)).toBe(false);
        expect(isSameSecret(secret + more, secret)).toBe(false);
        expect(isSameSecret(secret, secret + more)).toBe(false);
      },
    ),
  );
});

test('equal texts of any length are the same', () =>
  expectRows(
    [
      ['', ''],
      ['secret', 'secret'],
      ['s'.repeat(255), 's'.repeat(255)],
      ['s'.repeat(256), 's'.repeat(256)],
      ['s'.repeat(5000), 's'.repeat(5000)],
    ],
    ([given, expected]) => {
      expect(isSameSecret(given, expected)).toBe(true);
    },
  ));

test('texts that differ in length only are not the same', () =>
  expectRows(
    [
      ['', 'secret'],
      ['secret', ''],
      ['secret\0', 'secret'],
      ['secret', 'secret\0'],
      ['secret\u0080', 'secret'],
      ['s'.repeat(255), 's'.repeat(256)],
      ['s'.repeat(256), 's'.repeat(255)],
      ['s'.repeat(70_000), 's'.repeat(43)],
    ],
    ([given, expected]) => {
      expect(isSameSecret(given, expected)).toBe(false);
    },
  ));
