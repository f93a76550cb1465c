/** `@gatehouse/server` on workerd: it runs there, and the real `/siteverify` understands every call that it makes. */
import { beforeAll, describe, expect, test } from 'vitest';
import { checkSignature, createVerifier, type VerifierOptions } from '../../packages/server/src/index.ts';
import { HmacSha256 } from '../../src/bytes/hmac-sha256.ts';
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { signForOrigin } from '../../src/edge/origin/origin-signature.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { makeSite, send, tokenFor } from './captcha-harness.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

let site: SiteRecord;
beforeAll(async () => {
  site = await makeSite('premium');
});

/** As a Worker calls the service through a binding. */
const binding: typeof fetch = async (input, init) => send(new Request(input as string, init as RequestInit));
const verifier = (options: Partial<VerifierOptions> = {}) =>
  createVerifier({
    secret: site.secretKey,
    serviceUrl: 'https://gatehouse.test',
    timeoutMs: 60_000,
    fetch: binding,
    ...options,
  });

describe('the verifier', () => {
  test('verifies a token of the widget for its action, host and level, once', async () => {
    const field = JSON.stringify({ token: await tokenFor(site, { action: 'login' }) });
    const asked = verifier({
      expectedAction: 'login',
      expectedHostname: ['www.example.com', 'example.com'],
      minimumLevel: 1,
    });
    const options = { ip: '192.0.2.1', email: 'ada@example.com', userAccount: 'customer-7' };
    expect(await asked.verify(field, options)).toMatchObject({
      outcome: 'verified',
      action: 'login',
      hostname: 'www.example.com',
      level: 1,
      score: expect.any(Number),
      challengedAtMs: expect.any(Number),
      test: false,
    });
    expect(await asked.verify(field, options)).toMatchObject({
      outcome: 'refused',
      reason: 'API.USER_ALREADY_VERIFIED',
    });
  });

  test('gets the same verdict again when the response to its first attempt was lost', async () => {
    const token = await tokenFor(site);
    let calls = 0;
    const lossy: typeof fetch = async (input, init) => {
      const response = await binding(input, init);
      calls += 1;
      if (calls === 1) throw new TypeError('The connection was lost');
      return response;
    };
    expect(await verifier({ fetch: lossy }).verify(token)).toMatchObject({ outcome: 'verified' });
    expect(calls).toBe(2);
    expect(await verifier().verify(token)).toMatchObject({ outcome: 'refused' });
  });

  test.each<[string, Partial<VerifierOptions>, string]>([
    ['another action', { expectedAction: 'signup' }, 'API.ACTION_MISMATCH'],
    ['another host', { expectedHostname: 'other.example.com' }, 'API.UNAUTHORIZED_ORIGIN_URL'],
    ['a higher level', { minimumLevel: 2 }, 'API.LEVEL_TOO_LOW'],
  ])('does not spend a token that it refuses for %s', async (_, options, reason) => {
    const token = await tokenFor(site, { action: 'login' });
    expect(await verifier(options).verify(token)).toMatchObject({ outcome: 'refused', reason });
    expect(await verifier().verify(token)).toMatchObject({ outcome: 'verified' });
  });

  test('tells a wrong secret from a wrong token', async () => {
    expect(await verifier({ secret: 'secret_of-nobody', failMode: 'open' }).verify('t')).toMatchObject({
      outcome: 'misconfigured',
      status: 401,
      key: 'GENERAL.INVALID_SECRET_KEY',
    });
    expect(await verifier().verify('t')).toMatchObject({ outcome: 'refused', reason: 'CAPTCHA.INVALID_TOKEN' });
  });

  test('refuses a form without a token while the service responds, also with fail open', async () => {
    expect(await verifier({ failMode: 'open' }).verify(undefined)).toMatchObject({ outcome: 'missing', pass: false });
  });

  test('reports an address that is none as not evaluated, and verifies the token', async () => {
    const result = await verifier().verify(await tokenFor(site), { ip: 'unknown' });
    expect(result).toMatchObject({ outcome: 'verified', notEvaluated: expect.arrayContaining(['ip']) });
  });

  test('shows that a test key was used, whatever it expects', () =>
    expectRows(
      [
        ['pass', { outcome: 'verified', test: true }],
        ['score', { outcome: 'verified', score: 0.9, test: true }],
        ['fail', { outcome: 'refused', test: true }],
        ['expired', { outcome: 'refused', reason: 'API.TIMESTAMP_TOO_OLD', test: true }],
      ],
      async ([name, expected]) => {
        const asked = verifier({
          secret: `test-secret-key-${name}`,
          expectedAction: 'login',
          expectedHostname: 'example.com',
        });
        expect(await asked.verify('anything')).toMatchObject(expected);
      },
    ));
});

test('the signature of the gate is checked on workerd', async () => {
  const secret = new Uint8Array(32).fill(5);
  const keys = { k1: encodeBase64url(secret) };
  const timestamp = Math.floor(testNow() / 1000);
  const facts = {
    timestamp,
    method: 'GET',
    target: '/a?b',
    requestId: 'r',
    decision: 'allow',
    verified: 'false',
    ip: '',
  };
  const headers = {
    'x-protect-request-id': 'r',
    'x-protect-decision': 'allow',
    'x-protect-verified': 'false',
    'x-protect-signature': signForOrigin(new HmacSha256(secret), 'k1', facts),
  };
  expect(await checkSignature(new Request('https://origin.test/a?b', { headers }), { keys })).toMatchObject({
    valid: true,
  });
  expect(await checkSignature(new Request('https://origin.test/a?c', { headers }), { keys })).toEqual({
    valid: false,
    fault: 'mismatch',
  });
});
