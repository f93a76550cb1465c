/** `checkSignature` accepts what the edge signs, within its time, and nothing else. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkSignature, type SignatureOptions } from '../../../packages/server/src/index.ts';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import { signForOrigin } from '../../../src/edge/origin/origin-signature.ts';
import { expectRows } from '../../support/rows.ts';

const NOW = 1_800_000_000;
const secret = Buffer.alloc(32, 5);
const keys = { k1: secret.toString('base64url') };
const facts = {
  timestamp: NOW,
  method: 'POST',
  target: '/order?x=1',
  requestId: 'r-1',
  decision: 'allow',
  verified: 'true',
  ip: '192.0.2.1',
};
const signed = (changes: Partial<typeof facts> = {}, kid = 'k1', key = secret): string =>
  signForOrigin(new HmacSha256(key), kid, { ...facts, ...changes });
const headersWith = (changes: Record<string, string> = {}): Record<string, string> => ({
  'x-protect-signature': signed(),
  'x-protect-request-id': 'r-1',
  'x-protect-decision': 'allow',
  'x-protect-verified': 'true',
  'x-forwarded-for': '192.0.2.1',
  ...changes,
});
const node = (changes: Record<string, string> = {}, over: object = {}) => ({
  method: 'POST',
  url: '/order?x=1',
  headers: headersWith(changes),
  ...over,
});
const check = async (request: Parameters<typeof checkSignature>[0], options: Partial<SignatureOptions> = {}) => {
  const result = await checkSignature(request, { keys, nowMs: NOW * 1000, ...options });
  return result.valid ? 'valid' : result.fault;
};

test('a request that the edge signed is valid, with what the gate says of it', async () => {
  expect(await checkSignature(node(), { keys, nowMs: NOW * 1000 })).toEqual({
    valid: true,
    kid: 'k1',
    signedAtMs: NOW * 1000,
    requestId: 'r-1',
    decision: 'allow',
    verified: true,
    ip: '192.0.2.1',
  });
});

test('a Request and one of Node are read alike', async () => {
  const init = { method: 'POST', headers: headersWith() };
  expect(await check(new Request('http://origin.test/order?x=1', init))).toBe('valid');
  expect(await check(new Request('http://origin.test/order?x=1#part', init))).toBe('valid');
  expect(await check(node({}, { url: 'http://origin.test/order?x=1' }))).toBe('valid');
  const root = { method: 'POST', headers: headersWith({ 'x-protect-signature': signed({ target: '/' }) }) };
  expect(await check(new Request('http://origin.test', root))).toBe('valid');
});

test('a query right behind the host belongs to the root', async () => {
  const root = { 'x-protect-signature': signed({ target: '/?x=/public' }) };
  expect(await check(node(root, { url: 'http://origin.test?x=/public' }))).toBe('valid');
  expect(await check(new Request('http://origin.test?x=/public', { method: 'POST', headers: headersWith(root) }))).toBe(
    'valid',
  );
});

describe('a request is refused', () => {
  test('with a target that is not the one that was signed', () =>
    expectRows(
      [
        'http://h?x=/public',
        'http://h\\x/public',
        'http://h;x/public',
        'http://user@h/public',
        'http:/public',
        'x/public',
        '?x=/public',
        '//',
        '*',
      ],
      async (url) => {
        for (const target of ['/public', '/']) {
          expect(await check(node({ 'x-protect-signature': signed({ target }) }, { url }))).toBe('mismatch');
        }
      },
    ));

  test('with its fault, when anything differs from what was signed', () =>
    expectRows<[string, Parameters<typeof checkSignature>[0], string]>(
      [
        ['without a signature', node({ 'x-protect-signature': '' }), 'missing'],
        ['with another path', node({}, { url: '/order?x=2' }), 'mismatch'],
        ['with a path that is an address', node({}, { url: '/http://origin.test/order?x=1' }), 'mismatch'],
        ['with another method', node({}, { method: 'GET' }), 'mismatch'],
        ['with a method in other letters', node({}, { method: 'post' }), 'mismatch'],
        ['with another verdict', node({ 'x-protect-verified': 'false' }), 'mismatch'],
        ['with another decision', node({ 'x-protect-decision': 'block' }), 'mismatch'],
        ['with another request’s id', node({ 'x-protect-request-id': 'r-2' }), 'mismatch'],
        ['with another visitor', node({ 'x-forwarded-for': '192.0.2.2' }), 'mismatch'],
        ['with a proxy’s address added', node({ 'x-forwarded-for': '192.0.2.1, 10.0.0.1' }), 'mismatch'],
        [
          'with a key of another instance',
          node({ 'x-protect-signature': signed({}, 'k1', Buffer.alloc(32, 6)) }),
          'mismatch',
        ],
        ['with a key id that is not known', node({ 'x-protect-signature': signed({}, 'k2') }), 'unknown-key'],
        [
          'with a key id that every object has',
          node({ 'x-protect-signature': signed({}, 'constructor') }),
          'unknown-key',
        ],
        ['with the key id __proto__', node({ 'x-protect-signature': signed({}, '__proto__') }), 'unknown-key'],
        ['with two signatures', node({ 'x-protect-signature': `${signed()}, ${signed()}` }), 'malformed'],
        ['with a space behind it', node({ 'x-protect-signature': `${signed()} ` }), 'malformed'],
        [
          'with parts in another order',
          node({ 'x-protect-signature': signed().replace(/^(t=\d+),(kid=k1)/, '$2,$1') }),
          'malformed',
        ],
        [
          'with a time that is no number',
          node({ 'x-protect-signature': signed().replace(/t=\d+/, 't=now') }),
          'malformed',
        ],
        ['with a shorter code', node({ 'x-protect-signature': signed().slice(0, -1) }), 'malformed'],
        ['with another text of the same code', node({ 'x-protect-signature': otherText(signed()) }), 'malformed'],
        [
          'with a header list',
          node({}, { headers: { ...headersWith(), 'x-protect-verified': ['true', 'true'] } }),
          'mismatch',
        ],
        [
          'with inherited headers',
          node({}, { headers: Object.create(headersWith()) as Record<string, string> }),
          'missing',
        ],
      ],
      async ([, request, fault]) => {
        expect(await check(request)).toBe(fault);
      },
    ));

  /** The last character of 32 bytes in base64url has two bits that say nothing. */
  function otherText(signature: string): string {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    return signature.slice(0, -1) + alphabet[alphabet.indexOf(signature.at(-1)!) + 1];
  }

  test('when any character of the signature is another one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(signed().length - 1), fc.integer({ min: 33, max: 126 }), async (at, code) => {
        const text = signed();
        const changed = text.slice(0, at) + String.fromCodePoint(code) + text.slice(at + 1);
        if (changed !== text) expect(await check(node({ 'x-protect-signature': changed }))).not.toBe('valid');
      }),
    );
  });
});

describe('time', () => {
  const at = (seconds: number, options: Partial<SignatureOptions> = {}) =>
    check(node(), { ...options, nowMs: (NOW + seconds) * 1000 });

  test('a signature is fresh for five minutes in both directions', async () => {
    expect([await at(300), await at(301), await at(-300), await at(-301)]).toEqual([
      'valid',
      'too-old',
      'valid',
      'too-new',
    ]);
  });

  test('a shorter window is kept', async () => {
    expect([await at(10, { maxAgeSeconds: 10 }), await at(11, { maxAgeSeconds: 10 })]).toEqual(['valid', 'too-old']);
  });

  test.each([Number.NaN, Infinity, -1])(
    'a window of %s is refused and does not open the check',
    async (maxAgeSeconds) => {
      await expect(at(1_000_000, { maxAgeSeconds })).rejects.toThrow(TypeError);
    },
  );

  test('a request is accepted once where isFirstUse remembers it', async () => {
    const seen = new Map<string, number>();
    const isFirstUse = (id: string, untilMs: number): boolean => !seen.has(id) && Boolean(seen.set(id, untilMs));
    expect([await at(0, { isFirstUse }), await at(1, { isFirstUse })]).toEqual(['valid', 'repeated']);
    expect([...seen.values()]).toEqual([(NOW + 300) * 1000]);
  });

  test('a forged request is not remembered', async () => {
    const isFirstUse = (): boolean => {
      throw new Error('asked');
    };
    expect(await check(node({}, { method: 'GET' }), { isFirstUse })).toBe('mismatch');
  });
});

describe('keys', () => {
  test('rotate while the object lives', async () => {
    const rotating: Record<string, string> = { ...keys };
    const next = Buffer.alloc(32, 9);
    const later = node({ 'x-protect-signature': signed({}, 'k2', next) });
    expect(await check(later, { keys: rotating })).toBe('unknown-key');
    rotating['k2'] = next.toString('base64url');
    expect([await check(later, { keys: rotating }), await check(node(), { keys: rotating })]).toEqual([
      'valid',
      'valid',
    ]);
    rotating['k1'] = next.toString('base64url');
    expect(await check(node(), { keys: rotating })).toBe('mismatch');
    delete rotating['k1'];
    expect(await check(node(), { keys: rotating })).toBe('unknown-key');
  });

  test('may come from a function', async () => {
    expect(await check(node(), { keys: async (kid) => (kid === 'k1' ? keys.k1 : undefined) })).toBe('valid');
  });

  test('of another form are an error that names the key', () =>
    expectRows(['', 'short', `${keys.k1}=`, 'a'.repeat(44)], async (key) => {
      await expect(check(node(), { keys: { k1: key } })).rejects.toThrow(/k1/);
    }));
});
