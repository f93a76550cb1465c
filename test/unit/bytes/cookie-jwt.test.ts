/** JWTs of the edge's cookies: their bytes, and what is refused although jose would read it, or anybody might. */
import { createHmac } from 'node:crypto';
import { CompactSign, errors } from 'jose';
import { describe, expect, test } from 'vitest';
import { type CookieKey, isForeign, signCookieJwt, verifyCookieJwt } from '../../../src/bytes/cookie-jwt.ts';
import { expectRows } from '../../support/rows.ts';

const key = new Uint8Array(32).fill(7);
const nowMs = 1_800_000_000_000;
const claims = { jti: 'j', sub: 'instance-1', text: 'ä€😀', exp: 1_800_000_000 };
const keyOf = (kid: string) => (kid === 'k1' ? key : null);
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function verified(jwt: string, keys: (kid: string) => CookieKey | null = keyOf, atMs = 0): Promise<unknown> {
  return verifyCookieJwt(jwt, keys, 'instance-1', atMs);
}

function signedByJose(header: Record<string, unknown>, payload: unknown = claims): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return new CompactSign(bytes).setProtectedHeader({ alg: 'HS256', ...header }).sign(key);
}

/** A JWT of any two texts, with their right signature. */
function signedTexts(header: string, payload: string): string {
  const signed = `${header}.${payload}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

test('a JWT has the same bytes in every version: alg, typ and kid, then the claims in their order', async () => {
  const texts = signedTexts(base64url({ alg: 'HS256', typ: 'JWT', kid: 'k1' }), base64url(claims));
  expect(await signCookieJwt(claims, key, 'k1')).toBe(texts);
  expect(await verified(texts)).toEqual(claims);
});

test('raw bytes and an imported key sign and verify alike', async () => {
  const usages: KeyUsage[] = ['sign', 'verify'];
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, usages);
  const jwt = await signCookieJwt(claims, imported, 'k1');
  expect(jwt).toBe(await signCookieJwt(claims, key, 'k1'));
  expect(await verified(jwt, () => imported)).toEqual(claims);
});

test('a JWT expires at its end, later with a tolerance, and is read ever after at time 0', async () => {
  const jwt = await signCookieJwt(claims, key, 'k1');
  expect(await verified(jwt, keyOf, nowMs - 1)).toEqual(claims);
  await expect(verified(jwt, keyOf, nowMs)).rejects.toThrow(errors.JWTExpired);
  expect(await verifyCookieJwt(jwt, keyOf, 'instance-1', nowMs + 4999, 5)).toEqual(claims);
  await expect(verifyCookieJwt(jwt, keyOf, 'instance-1', nowMs + 5000, 5)).rejects.toThrow(errors.JWTExpired);
  expect(await verified(jwt)).toEqual(claims);
});

describe('is refused', () => {
  test('with any one character of header, claims or signature changed', async () => {
    const jwt = await signCookieJwt(claims, key, 'k1');
    for (let at = 0; at < jwt.length; at++) {
      const changed = jwt.slice(0, at) + (jwt[at] === 'A' ? 'B' : 'A') + jwt.slice(at + 1);
      await expect(verified(changed), `character ${at}`).rejects.toThrow();
    }
  });

  test('when it differs from what an edge writes', () =>
    expectRows<[string, () => Promise<string>]>(
      [
        ['another algorithm', () => signedByJose({ alg: 'HS512', kid: 'k1' })],
        ['an unknown key', () => signedByJose({ kid: 'k2' })],
        ['no kid', () => signedByJose({})],
        ['a kid that is no string', () => signedByJose({ kid: 1 })],
        ['the claims of another instance', () => signedByJose({ kid: 'k1' }, { ...claims, sub: 'instance-2' })],
        ['no instance', () => signedByJose({ kid: 'k1' }, { jti: 'j' })],
        ['an end that is no number', () => signedByJose({ kid: 'k1' }, { ...claims, exp: '1800000000' })],
        ['no claims but a list', () => signedByJose({ kid: 'k1' }, [1])],
        ['no claims but a number', () => signedByJose({ kid: 'k1' }, 1)],
        ['a fourth part', async () => `${await signedByJose({ kid: 'k1' })}.AAAA`],
        ['padding', async () => `${await signedByJose({ kid: 'k1' })}=`],
        ['a space in front', async () => ` ${await signedByJose({ kid: 'k1' })}`],
        ['a space in the signature', async () => (await signedByJose({ kid: 'k1' })).replace(/.{5}$/, ' $&')],
        ['spare bits in its signature', async () => withSpareBit(await signedByJose({ kid: 'k1' }))],
        ['no signature', async () => (await signedByJose({ kid: 'k1' })).replace(/[^.]*$/, '')],
        ['nothing', async () => ''],
      ],
      async ([, made]) => {
        await expect(verified(await made())).rejects.toThrow();
      },
    ));

  test('with another header, even if rightly signed', () =>
    expectRows(
      [
        ['an extension in crit', { crit: ['exp'] }],
        ['an empty crit', { crit: [] }],
        ['a crit that is null', { crit: null }],
        ['a payload that is not encoded', { crit: ['b64'], b64: false }],
        ['an algorithm in a list', { alg: ['HS256'] }],
        ['an algorithm in other letters', { alg: 'hs256' }],
        ['the algorithm none', { alg: 'none' }],
        ['no algorithm', { alg: undefined }],
      ],
      async ([, header]) => {
        const jwt = signedTexts(base64url({ alg: 'HS256', kid: 'k1', ...header }), base64url(claims));
        await expect(verified(jwt)).rejects.toThrow();
      },
    ));

  test('as foreign with a signature of another key, or a key that does not exist; as anything else, not', async () => {
    const jwt = await signedByJose({ kid: 'k1' });
    const problemOf = (text: string, keys: typeof keyOf) => verified(text, keys).catch((error: unknown) => error);
    expect(isForeign(await problemOf(jwt, () => new Uint8Array(32)))).toBe(true);
    expect(isForeign(await problemOf(jwt, () => null))).toBe(true);
    expect(isForeign(await problemOf(`${jwt}=`, keyOf))).toBe(false);
  });
});

/** Another text for the same bytes, which a lenient decoder accepts. */
function withSpareBit(text: string): string {
  return text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
}
