/** HS256 JWTs against jose: each reads what the other signs, and what jose refuses is refused here. */
import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { CompactSign, compactVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { ForeignJwt, openHs256, signHs256 } from '../../../src/bytes/hs256-jwt.ts';
import { runs } from '../../support/properties.ts';

const key = new Uint8Array(32).fill(7);
const claims = { sub: 'instance-1', text: 'ä€😀', exp: 1_800_000_000 };
const keyOf = (kid: string) => (kid === 'k1' ? key : null);
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const base64url = (value: unknown) => Buffer.from(bytes(value)).toString('base64url');

function signedByJose(header: Record<string, unknown>, payload: unknown = claims): Promise<string> {
  return new CompactSign(bytes(payload)).setProtectedHeader({ alg: 'HS256', ...header }).sign(key);
}

test('jose verifies what is signed here, and reads the same header and claims', async () => {
  const { payload, protectedHeader } = await compactVerify(await signHs256(claims, key, 'k1'), key);
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(claims);
  expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'k1' });
});

test('what jose signs is read here, with raw bytes and with an imported key', async () => {
  const jwt = await signedByJose({ kid: 'k1' });
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  expect(await openHs256(jwt, keyOf)).toEqual(claims);
  expect(await openHs256(jwt, () => imported)).toEqual(claims);
});

describe('is refused', () => {
  test('with any one character of header, claims or signature changed', async () => {
    const jwt = await signHs256(claims, key, 'k1');
    for (let at = 0; at < jwt.length; at++) {
      const changed = jwt.slice(0, at) + (jwt[at] === 'A' ? 'B' : 'A') + jwt.slice(at + 1);
      await expect(openHs256(changed, keyOf), `character ${at}`).rejects.toThrow();
    }
  });

  test.each([
    ['another algorithm', () => signedByJose({ alg: 'HS512', kid: 'k1' })],
    ['an unknown key', () => signedByJose({ kid: 'k2' })],
    ['a kid that is no string', () => signedByJose({ kid: 1 })],
    ['no claims but a list', () => signedByJose({ kid: 'k1' }, [1])],
    ['no claims but a number', () => signedByJose({ kid: 'k1' }, 1)],
    ['a fourth part', async () => `${await signedByJose({ kid: 'k1' })}.AAAA`],
    ['padding', async () => `${await signedByJose({ kid: 'k1' })}=`],
    ['a space', async () => ` ${await signedByJose({ kid: 'k1' })}`],
    ['no signature', async () => (await signedByJose({ kid: 'k1' })).replace(/[^.]*$/, '')],
    ['nothing', async () => ''],
  ])('with %s', async (_, made) => {
    await expect(openHs256(await made(), keyOf)).rejects.toThrow();
  });

  test.each([
    ['an extension in crit', { crit: ['exp'] }],
    ['an empty crit', { crit: [] }],
    ['a crit that is null', { crit: null }],
    ['an algorithm in a list', { alg: ['HS256'] }],
    ['an algorithm in other letters', { alg: 'hs256' }],
    ['the algorithm none', { alg: 'none' }],
    ['no algorithm', { alg: undefined }],
  ])('with %s, rightly signed', async (_, header) => {
    const jwt = signedTexts(base64url({ alg: 'HS256', kid: 'k1', ...header }), base64url(claims));
    await expect(openHs256(jwt, keyOf)).rejects.toThrow();
  });

  test('with spare bits in header or claims, rightly signed', async () => {
    const [header, payload] = [base64url({ alg: 'HS256', kid: 'k1' }), base64url({ a: 1 })];
    expect([header, payload].map((part) => part.length % 4)).not.toContain(0);
    expect(await openHs256(signedTexts(header, payload), keyOf)).toEqual({ a: 1 });
    for (const parts of [
      [withSpareBit(header), payload],
      [header, withSpareBit(payload)],
    ] as const) {
      await expect(openHs256(signedTexts(...parts), keyOf)).rejects.toThrow();
    }
  });

  test('with a signature of another key, as foreign; with anything else, not', async () => {
    const jwt = await signedByJose({ kid: 'k1' });
    await expect(openHs256(jwt, () => new Uint8Array(32))).rejects.toThrow(ForeignJwt);
    await expect(openHs256(`${jwt}=`, keyOf)).rejects.not.toThrow(ForeignJwt);
  });
});

test('what is accepted here, jose accepts with the same claims, whatever is signed', async () => {
  let accepted = 0;
  const member = fc.constantFrom<unknown>('HS256', 'HS256', 'HS512', 'none', 'k1', 'k1', 'k2', 1, null, [], {});
  const header = fc.record({ alg: member, kid: member, typ: member, crit: member, b64: member }, { requiredKeys: [] });
  const part = fc.oneof(
    fc.json(),
    header.map((value) => JSON.stringify(value)),
    fc.string({ unit: 'binary' }),
  );
  const text = part.map((value) => Buffer.from(value).toString('base64url'));
  const raw = fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.string() });
  await fc.assert(
    fc.asyncProperty(raw, raw, async (first, second) => {
      const jwt = signedTexts(first, second);
      const opened = await openHs256(jwt, () => key).catch(() => null);
      if (opened === null) return;
      accepted++;
      const { payload } = await compactVerify(jwt, key, { algorithms: ['HS256'] });
      expect(opened).toEqual(JSON.parse(new TextDecoder().decode(payload)));
    }),
    { numRuns: runs(3000), examples: [[base64url({ alg: 'HS256' }), base64url(claims)]] },
  );
  expect(accepted).toBeGreaterThan(0);
});

/** A JWT of any two texts, with their right signature. */
function signedTexts(header: string, payload: string): string {
  const signed = `${header}.${payload}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

/** Another text for the same bytes, which a lenient decoder accepts. */
function withSpareBit(text: string): string {
  return text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
}

test('a JWT of a key that does not exist is foreign', async () => {
  const jwt = await signHs256({ a: 1 }, key, 'k1');
  await expect(openHs256(jwt, () => null)).rejects.toThrow(ForeignJwt);
});
