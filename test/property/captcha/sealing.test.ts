/** Codecs and seals with arbitrary data: each value has exactly one text, and no other text opens. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeBase64url } from '../../../src/bytes/base64url.ts';
import {
  decodeFields,
  encodeFields,
  numberField,
  readNumber,
  readText,
  textField,
} from '../../../src/captcha/seal/field-encoding.ts';
import { toBigInt, toBytes } from '../../../src/captcha/pow/pow-solve.ts';
import { unseal } from '../../../src/captcha/seal/seal.ts';
import { openToken, sealToken } from '../../../src/captcha/seal/sealed-token.ts';
import { runs } from '../../support/properties.ts';
import { keyringOf, NOON, token } from '../../unit/captcha/sealing-fixtures.ts';

const bytes = fc.uint8Array({ maxLength: 300 }).map((given) => new Uint8Array(given));
const keyring = keyringOf('ours');

describe('fields', () => {
  test('decode to the same fields, and only with the same count', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 12 }), fc.nat(14), (fields, count) => {
        const encoded = encodeFields(fields);
        expect(decodeFields(encoded, fields.length)).toEqual(fields);
        if (count !== fields.length) expect(decodeFields(encoded, count)).toBeNull();
      }),
    );
  });

  test('of two different lists never have the same encoding', () => {
    fc.assert(
      fc.property(
        fc.array(bytes, { minLength: 1, maxLength: 6 }),
        fc.array(bytes, { minLength: 1, maxLength: 6 }),
        (a, b) => {
          const same = Buffer.from(encodeFields(a)).equals(Buffer.from(encodeFields(b)));
          const list = (fields: readonly Uint8Array[]): string =>
            fields.map((field) => Buffer.from(field).toString('hex')).join(' ');
          const equal = a.length === b.length && list(a) === list(b);
          expect(same).toBe(equal);
        },
      ),
    );
  });

  test('decode any bytes without throwing', () => {
    fc.assert(
      fc.property(bytes, fc.nat(8), (given, count) => {
        for (const field of decodeFields(given, count) ?? []) {
          readText(field);
          readNumber(field);
        }
      }),
    );
  });

  test('can hold every safe number and every text', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(readNumber(numberField(value))).toBe(value);
      }),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
        (text) => {
          expect(readText(textField(text))).toBe(text);
        },
      ),
    );
  });
});

test('big numbers survive the way to bytes and back', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      expect(toBytes(toBigInt(given), given.length)).toEqual(given);
    }),
  );
});

describe('a seal', () => {
  test('opens for no text that was not sealed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ maxLength: 200 }), bytes.map(encodeBase64url)), async (text) => {
        expect(await unseal(keyring, 'token', text, 3, NOON)).toBeNull();
      }),
    );
  });

  test('returns any token unchanged', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((given) => given.isWellFormed());
    await fc.assert(
      fc.asyncProperty(text, text, text, fc.nat(1000), async (hostname, action, cdata, later) => {
        const given = { ...token, hostname, action, cdata };
        expect(await openToken(keyring, await sealToken(keyring, given), token.solvedAt + later)).toEqual(given);
      }),
      { numRuns: runs(50) },
    );
  });
});
