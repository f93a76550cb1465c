/** The session cookie and the JWT inside it. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  mintSessionJwt,
  paidWorkClaim,
  paidWorkOf,
  type SessionClaims,
  splitSessionCookie,
  verifySessionJwt,
} from '../../../src/risk/session-token.ts';
import { failed, ok } from '../../../src/result.ts';
import { expectRows } from '../../support/rows.ts';

describe('a session JWT', () => {
  const key = new Uint8Array(32).fill(7);
  const nowMs = 1_800_000_000_000;
  const claims: SessionClaims = {
    jti: 'jti-1',
    sub: 'inst_1',
    iat: nowMs / 1000,
    exp: nowMs / 1000 + 300,
    sxp: nowMs / 1000 + 3600,
    risk: 0.25,
    bnd: 'binding',
  };
  const keyOf = (kid: string) => (kid === 'w1' ? key : null);

  test('is malformed with blanks, padding or spare bits in its signature', async () => {
    const jwt = await mintSessionJwt(key, 'w1', claims);
    const spareBits = String.fromCharCode(jwt.charCodeAt(jwt.length - 1) + 1);
    const spellings = [`${jwt.slice(0, -5)} ${jwt.slice(-5)}`, `${jwt}=`, `${jwt}\t`, jwt.slice(0, -1) + spareBits];
    const readings = await Promise.all(spellings.map((text) => verifySessionJwt(text, keyOf, 'inst_1', nowMs)));
    expect(readings).toEqual(spellings.map(() => failed('malformed')));
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', nowMs)).toEqual(ok(claims));
  });

  test('returns its claims for its instance, key and time', async () => {
    const jwt = await mintSessionJwt(key, 'w1', claims);
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', nowMs + 299_000)).toEqual(ok(claims));
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', nowMs + 400_000)).toEqual(failed('expired'));
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', nowMs + 400_000, true)).toEqual(ok(claims));
    expect(await verifySessionJwt(jwt, keyOf, 'inst_2', nowMs)).toEqual(failed('malformed'));
    expect(await verifySessionJwt(jwt, () => null, 'inst_1', nowMs)).toEqual(failed('bad-signature'));
    expect(await verifySessionJwt(jwt, () => new Uint8Array(32), 'inst_1', nowMs)).toEqual(failed('bad-signature'));
  });

  test('is refused with any one character changed', async () => {
    const jwt = await mintSessionJwt(key, 'w1', claims);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: jwt.length - 2 }), fc.constantFrom('A', 'b', '0', '-', '.'), async (at, put) => {
        fc.pre(jwt[at] !== put);
        const changed = jwt.slice(0, at) + put + jwt.slice(at + 1);
        expect(await verifySessionJwt(changed, keyOf, 'inst_1', nowMs)).toMatchObject({ ok: false });
      }),
    );
  });

  test('says what was worked for, and one of before has an advance in every window', () => {
    const paid = { window: 7, before: 1, now: 2, worked: 7, advanced: 6 };
    expect(paidWorkOf(paidWorkClaim(paid))).toEqual(paid);
    const older = paidWorkOf([7, 1, 2]);
    expect(older).toEqual({ ...paid, worked: 0, advanced: Number.MAX_SAFE_INTEGER });
    expect(paidWorkOf(JSON.parse(JSON.stringify(paidWorkClaim(older))))).toEqual(older);
  });

  test('is malformed without one of its claims', async () => {
    for (const name of ['jti', 'sxp', 'risk', 'bnd'] as const) {
      const lacking: Partial<SessionClaims> = { ...claims };
      delete lacking[name];
      const jwt = await mintSessionJwt(key, 'w1', lacking as SessionClaims);
      expect(await verifySessionJwt(jwt, keyOf, 'inst_1', nowMs)).toEqual(failed('malformed'));
    }
  });
});

test('a session cookie is an id, with or without a JWT', () =>
  expectRows(
    [
      ['abc|x.y.z', { jti: 'abc', jwt: 'x.y.z' }],
      ['abc', { jti: 'abc', jwt: null }],
      ['abc|', { jti: 'abc', jwt: '' }],
      ['|x', null],
      ['a b|x', null],
      ['a;b', null],
      ['a'.repeat(257), null],
    ],
    ([value, wanted]) => {
      expect(splitSessionCookie(value)).toEqual(wanted);
    },
  ));
