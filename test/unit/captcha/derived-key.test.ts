/** Keys of repeated verifications that are parts or hashes of the token. workerd has MD5, which Node's Web Crypto has not. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { isDerivedKey } from '../../../src/captcha/verify/derived-key.ts';
import { expectRows } from '../../support/rows.ts';

const TOKEN = 'gh1_the-token-of-a-visitor';
const algorithms = ['sha256', 'sha1', 'md5', 'sha512'] as const;

beforeEach(() => {
  const spy = vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (algorithm, data) => {
    const hash = createHash((algorithm as string).replace('-', '').toLowerCase());
    return Uint8Array.from(hash.update(new Uint8Array(data as ArrayBuffer)).digest()).buffer;
  });
  return () => spy.mockRestore();
});

test('a key that is a part or a hash of the token is derived', () =>
  expectRows<[string, string]>(
    [
      ['the token', TOKEN],
      ['its last eight characters', TOKEN.slice(-8)],
      ...algorithms.flatMap((algorithm): [string, string][] => {
        const digest = createHash(algorithm).update(TOKEN).digest();
        const hex = digest.toString('hex');
        return [
          [`its ${algorithm} in hex`, hex],
          [`eight characters of its ${algorithm} in upper case`, hex.slice(0, 8).toUpperCase()],
          [`its ${algorithm} with hyphens`, hex.replace(/^(.{8})(.{4})/, '$1-$2-')],
          [`its ${algorithm} in Base64`, digest.toString('base64')],
          [`its ${algorithm} in base64url`, digest.toString('base64url')],
          [`eight characters of its ${algorithm} in base64url`, digest.toString('base64url').slice(0, 8)],
        ];
      }),
    ],
    async ([, key]) => {
      expect(await isDerivedKey(key, ['another text', TOKEN])).toBe(true);
    },
  ));

test('a hash with every character of Base64 is found in both spellings', async () => {
  const text = Array.from({ length: 1000 }, (_, index) => `token-${index}`).find((candidate) =>
    /^(?=.*\+)(?=.*\/)/.test(createHash('sha256').update(candidate).digest('base64')),
  )!;
  const digest = createHash('sha256').update(text).digest();
  expect(await isDerivedKey(digest.toString('base64'), [text])).toBe(true);
  expect(await isDerivedKey(digest.toString('base64url'), [text])).toBe(true);
});

test('a key that only resembles a part or a hash of the token is not derived', () =>
  expectRows<[string, string]>(
    [
      ['a part of the token that is too short to be one', TOKEN.slice(0, 7)],
      ['hyphens alone', '--------'],
      ['random', 'f3b1c9aa-5d20-4c1e-9d5b-0a7f6e1c2d3b'],
      ['the hash of something else', createHash('sha256').update('something else').digest('hex')],
      ['the end of a hash', createHash('sha256').update(TOKEN).digest('hex').slice(-12)],
      ['the end of a hash in base64url', createHash('sha256').update(TOKEN).digest('base64url').slice(-12)],
      ['a hash in two parts', createHash('sha256').update(TOKEN).digest('base64url').replace(/^.{9}/, '$&=')],
      ['seven characters of a hash and hyphens', `${createHash('sha256').update(TOKEN).digest('hex').slice(0, 7)}-`],
      [
        'seven characters of a hash and padding',
        `${createHash('sha256').update(TOKEN).digest('base64url').slice(0, 7)}=`,
      ],
    ],
    async ([, key]) => {
      expect(await isDerivedKey(key, [TOKEN])).toBe(false);
    },
  ));

test('a text that is longer than any token is not searched', async () => {
  const text = 'x'.repeat(16_384);
  expect(await isDerivedKey('x'.repeat(8), [text])).toBe(true);
  expect(await isDerivedKey('x'.repeat(8), [`${text}x`])).toBe(false);
});
