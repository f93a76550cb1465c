/** `createVerifier` against services that fail, lie and attack. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createVerifier, ServiceUnavailableError, type VerifierOptions } from '../../../packages/server/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { cut, drip, flood, hang, json, useHostileService } from '../../support/hostile-service.ts';
import { expectRows } from '../../support/rows.ts';

const service = useHostileService();
afterEach(() => void vi.useRealTimers());
const good = json({ verified: true, jti: 'j', action: 'login', hostname: 'shop.test', level: 1 });
const verifier = (options: Partial<VerifierOptions> = {}) =>
  createVerifier({ secret: 's', serviceUrl: service.url, timeoutMs: 60_000, retries: 1, ...options });

describe('a service that answers', () => {
  test('is asked once, with the token and what the backend knows', async () => {
    service.answers = [good];
    const result = await verifier({ expectedAction: 'login', minimumLevel: 1 }).verify('{"token":"t"}', {
      ip: '192.0.2.1',
      userAccount: 'customer-7',
      idempotencyKey: 'mine',
    });
    expect(result).toMatchObject({ outcome: 'verified', pass: true, action: 'login', hostname: 'shop.test', level: 1 });
    expect(service.bodies).toEqual([
      {
        secret: 's',
        token: 't',
        ip: '192.0.2.1',
        userAccount: 'customer-7',
        action: 'login',
        level: 1,
        idempotencyKey: 'mine',
      },
    ]);
    expect(service.paths).toEqual(['/siteverify']);
  });

  test('is believed when it refuses', async () => {
    service.answers = [json({ verified: false, reason: 'API.USER_ALREADY_VERIFIED' })];
    const result = await verifier({ failMode: 'open' }).verify('t');
    expect(result).toMatchObject({ outcome: 'refused', pass: false, reason: 'API.USER_ALREADY_VERIFIED' });
    expect(service.bodies).toHaveLength(1);
  });

  test('does not pass a token that verifies without what was expected', () =>
    expectRows<[string, Partial<VerifierOptions>, object]>(
      [
        ['another action', { expectedAction: 'login' }, { action: 'signup' }],
        ['no action', { expectedAction: 'login' }, {}],
        ['another host', { expectedHostname: 'shop.test' }, { hostname: 'evil.test' }],
        ['a host outside the list', { expectedHostname: ['a.test', 'b.test'] }, { hostname: 'c.test' }],
        ['a lower level', { minimumLevel: 2 }, { level: 1 }],
        ['no level', { minimumLevel: 1 }, {}],
      ],
      async ([, options, answer]) => {
        service.answers = [json({ verified: true, ...answer })];
        expect(await verifier({ failMode: 'open', ...options }).verify('t')).toMatchObject({
          outcome: 'refused',
          pass: false,
        });
      },
    ));

  test('passes any host of a list, in any case of letters', async () => {
    service.answers = [json({ verified: true, hostname: 'b.test' })];
    expect((await verifier({ expectedHostname: ['a.test', 'B.test'] }).verify('t')).outcome).toBe('verified');
  });

  test('is not believed when verified is anything but true', () =>
    expectRows(
      [
        ['an inherited field', '{"__proto__":{"verified":true}}'],
        ['a text', '{"verified":"true"}'],
        ['a number', '{"verified":1}'],
        ['a list', '[{"verified":true}]'],
        ['null', 'null'],
        ['HTML', '<!doctype html><title>Welcome to the hotel</title>'],
        ['nothing', ''],
      ],
      async ([, body]) => {
        service.answers = [json(body)];
        const result = await verifier().verify('t');
        expect(result).toMatchObject({ outcome: 'unavailable', pass: false, cause: 'unreadable', attempts: 2 });
      },
    ));
});

describe('a service that fails', () => {
  test.each([
    ['hangs', hang],
    ['drips', drip],
  ])('that %s costs a form no more than its deadline', async (_, answer) => {
    service.answers = [answer];
    const result = await verifier({ timeoutMs: 300 }).verify('t');
    expect(result).toMatchObject({ outcome: 'unavailable', pass: false, cause: 'timeout' });
  });

  test('makes a form fail closed, with its cause', () =>
    expectRows(
      [
        ['cuts its response', cut, 'network'],
        ['sends a body without end', flood, 'unreadable'],
        ['fails', json({}, 500), 'server-error'],
        ['is overloaded', json({}, 429), 'rate-limited'],
      ] as const,
      async ([, answer, cause]) => {
        service.answers = [answer];
        const result = await verifier().verify('t');
        expect(result).toMatchObject({ outcome: 'unavailable', pass: false, failMode: 'closed', cause });
      },
    ));

  test.each([
    ['cuts its response', cut],
    ['sends a body without end', flood],
    ['fails', json({}, 503)],
  ])('that %s once is asked again with the same idempotency key', async (_, answer) => {
    service.answers = [answer, good];
    expect((await verifier().verify('t')).outcome).toBe('verified');
    const [first, second] = service.bodies.map(({ idempotencyKey }) => idempotencyKey);
    expect(first).toMatch(/^[\da-f-]{36}$/);
    expect(second).toBe(first);
  });

  test('that hangs leaves a third of the time to another attempt', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const sent: unknown[] = [];
    const fetch = (async (_url, init) => {
      sent.push((JSON.parse(init?.body as string) as { idempotencyKey: string }).idempotencyKey);
      return sent.length === 1 ? new Promise(() => undefined) : Response.json({ verified: true });
    }) satisfies VerifierOptions['fetch'];
    const verified = verifier({ timeoutMs: 6000, fetch }).verify('t');
    await vi.advanceTimersByTimeAsync(3999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(102);
    expect(await verified).toMatchObject({ outcome: 'verified' });
    expect(sent).toEqual([sent[0], sent[0]]);
  });

  test('is asked with another key for another submission', async () => {
    service.answers = [good];
    await verifier().verify('t');
    await verifier().verify('t');
    expect(new Set(service.bodies.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  });

  test('loses the connection of a form that nobody waits for', async () => {
    service.answers = [drip];
    await verifier({ retries: 0, timeoutMs: 300 }).verify('t');
    await eventually(
      async () => service.abandoned(),
      (count) => count === 1,
    );
    expect(service.abandoned()).toBe(1);
  });

  test('does not keep a form longer than its deadline, whatever it asks to wait', async () => {
    service.answers = [json({}, 429, { 'retry-after': '3600' })];
    const result = await verifier({ retries: 5 }).verify('t');
    expect(result).toMatchObject({ cause: 'rate-limited', attempts: 1, retryAfterMs: 3_600_000 });
  });

  test('may say a Retry-After that no client can follow', () =>
    expectRows(['tomorrow', '-5', '1e9', '99999999999999999999'], async (value) => {
      service.answers = [json({}, 503, { 'retry-after': value }), good];
      expect((await verifier().verify('t')).outcome).toBe('verified');
    }));

  test('is waited for as long as a Retry-After within the deadline says', async () => {
    service.answers = [json({}, 503, { 'retry-after': '0' }), good];
    expect((await verifier().verify('t')).outcome).toBe('verified');
  });

  test('may be one that nobody listens for', async () => {
    const result = await verifier({ serviceUrl: 'http://127.0.0.1:1', retries: 2 }).verify('t');
    expect(result).toMatchObject({ cause: 'network', attempts: 3 });
  });

  test('makes the verifier throw where it is asked to', async () => {
    service.answers = [json({}, 500)];
    const error = await verifier({ throwUnavailable: true })
      .verify('t')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceUnavailableError);
    expect(error).toMatchObject({ code: 'GATEHOUSE_UNAVAILABLE', result: { cause: 'server-error' } });
    expect(String(error)).not.toContain(service.url);
  });

  test('does not hold a fetch of the caller’s that listens to no signal', async () => {
    const result = await verifier({ retries: 0, timeoutMs: 300, fetch: () => new Promise(() => undefined) }).verify(
      't',
    );
    expect(result).toMatchObject({ cause: 'timeout' });
  });
});

describe('fail open', () => {
  test('lets a form pass while the service is away, and says so', async () => {
    service.answers = [json({}, 500)];
    const result = await verifier({ failMode: 'open' }).verify('t');
    expect(result).toMatchObject({ outcome: 'unavailable', pass: true, failMode: 'open', attempts: 2 });
  });

  test('holds for a form without a token only while the service is away', async () => {
    service.answers = [json({}, 500)];
    expect(await verifier({ failMode: 'open' }).verify(undefined)).toMatchObject({
      outcome: 'unavailable',
      pass: true,
    });
    service.answers = [json({ verified: false })];
    expect(await verifier({ failMode: 'open' }).verify(undefined)).toMatchObject({ outcome: 'missing', pass: false });
  });

  test('does not hold for a form whose visitor has gone', async () => {
    // Gone once the service has the request. One that is on its way would arrive in a later test.
    const leaving = new AbortController();
    service.answers = [() => leaving.abort()];
    const result = await verifier({ failMode: 'open' }).verify('t', { signal: leaving.signal });
    expect(result).toMatchObject({ cause: 'aborted', pass: false, attempts: 1 });
    expect(await verifier({ failMode: 'open' }).verify('t', { signal: AbortSignal.abort() })).toMatchObject({
      pass: false,
    });
  });

  test.each([
    [
      'a wrong secret',
      json({ error: { code: 401, key: 'GENERAL.INVALID_SECRET_KEY', message: 'Unknown.' } }, 401),
      401,
    ],
    ['a page of something else', json('<h1>Not found</h1>', 404), 404],
    ['a body that is too large', json({}, 413), 413],
  ])('does not hold for %s, which waiting does not repair', async (_, answer, status) => {
    service.answers = [answer];
    const result = await verifier({ failMode: 'open' }).verify('t');
    expect(result).toMatchObject({ outcome: 'misconfigured', pass: false, status });
    expect(service.bodies).toHaveLength(1);
  });
});

test('a redirect is not followed with the secret', async () => {
  service.answers = [json({}, 307, { location: '/elsewhere' }), good];
  const result = await verifier({ failMode: 'open' }).verify('t');
  expect(result).toMatchObject({ outcome: 'misconfigured', pass: false, status: 307 });
  expect(service.paths).toEqual(['/siteverify']);
});

test('every result is shown to onResult', async () => {
  service.answers = [good];
  const seen: string[] = [];
  const observed = verifier({ onResult: ({ outcome }) => seen.push(outcome) });
  await observed.verify('t');
  await observed.verify('');
  expect(seen).toEqual(['verified', 'missing']);
});

test('an email and an account that no service takes are refused and not sent', async () => {
  service.answers = [good];
  expect(await verifier().verify('t', { email: `${'a'.repeat(400)}@b.test` })).toMatchObject({ outcome: 'refused' });
  expect(await verifier().verify('t', { userAccount: 'a'.repeat(300) })).toMatchObject({ outcome: 'refused' });
  expect(service.bodies).toEqual([]);
});

test('a visitor who sends half a character is not an error of the backend', async () => {
  service.answers = [json({ error: { code: 400, key: 'GENERAL.INVALID_BODY', message: 'field-half-character' } }, 400)];
  expect(await verifier().verify('\ud800')).toMatchObject({ outcome: 'missing', why: 'malformed' });
  for (const input of [{ email: 'a\udc00@b.test' }, { userAccount: '\ud800' }])
    expect(await verifier().verify('t', input)).toMatchObject({ outcome: 'refused', reason: 'input-malformed' });
  expect(service.bodies).toEqual([]);
});

test('an address out of a header cannot spoil the body either', async () => {
  service.answers = [good];
  await verifier().verify('t', { ip: 'unknown\ud800' });
  expect(service.bodies).toMatchObject([{ ip: 'unknown\ufffd' }]);
});

describe('options', () => {
  test('that cannot work are refused when the verifier is made', () =>
    expectRows<[string, Partial<VerifierOptions>]>(
      [
        ['no secret', { secret: '' }],
        ['a secret that an environment lacks', { secret: undefined as unknown as string }],
        ['no address', { serviceUrl: 'gatehouse' }],
        ['another protocol', { serviceUrl: 'ftp://gatehouse.test' }],
        ['a password in the address', { serviceUrl: 'https://a:b@gatehouse.test' }],
        ['http to another machine', { serviceUrl: 'http://gatehouse.test' }],
        ['a name that only looks like this machine', { serviceUrl: 'http://localhost.evil.test' }],
        ['no time', { timeoutMs: 0 }],
        ['a time that is no number', { timeoutMs: Number.NaN }],
        ['endless time', { timeoutMs: Infinity }],
        ['too many retries', { retries: 100 }],
        ['half a retry', { retries: 0.5 }],
        ['an unknown fail mode', { failMode: 'Open' as 'open' }],
      ],
      ([, options]) => {
        expect(() => verifier(options)).toThrow(TypeError);
      },
    ));

  test('may have a path, and http where it is allowed', () => {
    expect(() => verifier({ serviceUrl: 'https://gatehouse.test/captcha/' })).not.toThrow();
    expect(() => verifier({ serviceUrl: 'http://gatehouse.internal', allowHttp: true })).not.toThrow();
  });
});
