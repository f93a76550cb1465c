/** `/siteverify` on the real bindings: its response by tier and setting, and that a token verifies once. */
import { beforeAll, describe, expect, test } from 'vitest';
import { testSecretKey, testSiteKey } from '../../src/contract/captcha/test-keys.ts';
import type { SiteverifyResponse } from '../../src/contract/captcha/siteverify.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { later } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';
import { type Answer, env, makeAccount, makeSite, post, tokenFor } from './captcha-harness.ts';

function verify(
  site: { secretKey: string },
  token: string,
  extra: Record<string, unknown> = {},
): Promise<Answer<SiteverifyResponse>> {
  return post<SiteverifyResponse>('/siteverify', { secret: site.secretKey, token, ...extra });
}
const reasonOf = async (answer: Promise<Answer<SiteverifyResponse>>): Promise<string | undefined> =>
  (await answer).body.reason;

describe('a token', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium');
  });

  test('verifies once, with score, action, host name and level, and gives the reason the second time', async () => {
    const token = await tokenFor(site, { action: 'login' });
    expect(await verify(site, token)).toMatchObject({
      status: 200,
      body: { verified: true, score: 0, action: 'login', level: 1, hostname: 'www.example.com' },
    });
    expect(await verify(site, token)).toMatchObject({
      status: 200,
      body: { verified: false, reason: 'API.USER_ALREADY_VERIFIED' },
    });
  });

  test('verifies exactly once in 200 parallel calls', async () => {
    const token = await tokenFor(site);
    const answers = await Promise.all(Array.from({ length: 200 }, () => verify(site, token)));
    expect(answers.filter((answer) => answer.body.verified)).toHaveLength(1);
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
  });

  test('is spent once by the edge and once by the site', async () => {
    const token = await tokenFor(site);
    expect((await verify(site, token, { audience: 'edge' })).body.verified).toBe(true);
    expect((await verify(site, token)).body.verified).toBe(true);
    expect((await verify(site, token, { audience: 'edge' })).body.verified).toBe(false);
  });

  test('is spent once, although its challenge was solved twice', async () => {
    const { ask, handIn, solvePow } = await import('./captcha-harness.ts');
    const challenge = await ask(site);
    const solution = await solvePow(challenge);
    const tokens = [await handIn(challenge.challenge, solution), await handIn(challenge.challenge, solution)];
    const answers = await Promise.all(tokens.map((one) => verify(site, one.body.token ?? '')));
    expect(answers.filter((answer) => answer.body.verified)).toHaveLength(1);
  });

  test('stays usable after a demand that it does not meet', async () => {
    const other = await makeSite('premium');
    const token = await tokenFor(site, { action: 'login' });
    expect(await reasonOf(verify(other, token))).toBe('API.SITE_KEY_MISMATCH');
    expect(await reasonOf(verify(site, token, { hostname: 'other.example.com' }))).toBe('API.UNAUTHORIZED_ORIGIN_URL');
    expect(await reasonOf(verify(site, token, { action: 'clearance' }))).toBe('API.ACTION_MISMATCH');
    expect(await reasonOf(verify(site, token, { level: 2 }))).toBe('API.LEVEL_TOO_LOW');
    expect((await verify(site, token, { hostname: 'WWW.example.com', action: 'login', level: 1 })).body.verified).toBe(
      true,
    );
  });

  test('of a clearance is no form’s token: it verifies only where that action is asked for', async () => {
    const token = await tokenFor(site, { action: 'clearance' });
    expect(await reasonOf(verify(site, token))).toBe('API.ACTION_MISMATCH');
    expect((await verify(site, token, { action: 'clearance' })).body).toMatchObject({
      verified: true,
      action: 'clearance',
    });
  });

  test('may be sent as the whole value of the form field', async () => {
    const token = await tokenFor(site);
    expect((await verify(site, JSON.stringify({ token }))).body.verified).toBe(true);
  });

  test('expires with the site’s verifiedTimeout', async () => {
    const hasty = await makeSite('premium', { verifiedTimeout: 1000 });
    const token = await tokenFor(hasty);
    later(1100);
    expect(await reasonOf(verify(hasty, token))).toBe('API.TIMESTAMP_TOO_OLD');
  });

  test('that is nonsense is not verified, and never an error', () =>
    expectRows(
      ['', 'x', '{"token":7}', '=', 'A'.repeat(131_073), '\u0000', '..', 'eyJhbGciOiJub25lIn0.e30.'],
      async (token) => {
        expect(await verify(site, token)).toMatchObject({
          status: 200,
          body: { verified: false, reason: 'CAPTCHA.INVALID_TOKEN' },
        });
      },
    ));
});

describe('an idempotency key', () => {
  test('repeats the response to the same request, and to no other', async () => {
    const site = await makeSite('premium');
    const token = await tokenFor(site);
    const first = await verify(site, token, { idempotencyKey: 'one', ip: '192.0.2.9' });
    expect(first.body.verified).toBe(true);
    expect((await verify(site, token, { idempotencyKey: 'one', ip: '192.0.2.9' })).body).toEqual(first.body);
    for (const other of [
      { idempotencyKey: 'two', ip: '192.0.2.9' },
      { idempotencyKey: 'one', ip: '192.0.2.8' },
      { idempotencyKey: 'one' },
      {},
    ]) {
      // In sequence, so that each finds the token spent.
      expect((await verify(site, token, other)).body.verified).toBe(false);
    }
  });

  test('repeats the response after the token has expired', async () => {
    const site = await makeSite('premium', { verifiedTimeout: 1000 });
    const token = await tokenFor(site);
    const first = await verify(site, token, { idempotencyKey: 'k' });
    later(1100);
    expect((await verify(site, token, { idempotencyKey: 'k' })).body).toEqual(first.body);
    expect((await verify(site, token)).body.verified).toBe(false);
  });

  test('verifies 100 parallel retries with one and the same response', async () => {
    const site = await makeSite('premium');
    const token = await tokenFor(site);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => verify(site, token, { idempotencyKey: 'same' })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers[0]?.body.verified).toBe(true);
  });
});

describe('tiers', () => {
  test('free shows neither score nor reason, and ignores ip and email', async () => {
    const site = await makeSite('free', { spamEmailDomainCheckEnabled: true });
    const token = await tokenFor(site);
    const answer = await verify(site, token, { email: 'mailinator.com', ip: '192.0.2.1' });
    expect(answer.body).toMatchObject({ verified: true });
    expect(answer.body).not.toHaveProperty('score');
    expect((await verify(site, token)).body).toEqual({ verified: false });
  });

  test('professional counts a mailbox once per token, so that a repeated token does not use up an address', async () => {
    const emailRules = { enabled: true, maxEmailSubmissionCount: 2 };
    const site = await makeSite('professional', { storeMetadata: true, spamFilter: { enabled: true, emailRules } });
    const email = 'victim@example.org';
    const [first, second, third] = [await tokenFor(site), await tokenFor(site), await tokenFor(site)];
    expect((await verify(site, first, { email })).body.verified).toBe(true);
    for (let again = 0; again < 3; again++) {
      expect(await reasonOf(verify(site, first, { email }))).toBe('API.USER_ALREADY_VERIFIED');
    }
    expect((await verify(site, second, { email })).body.verified).toBe(true);
    expect(await reasonOf(verify(site, third, { email }))).toBe('API.SPAM_EMAIL_COUNT_EXCEEDED');
  });

  test('professional shows the reason and no score, and checks email', async () => {
    const site = await makeSite('professional', { spamEmailDomainCheckEnabled: true });
    const token = await tokenFor(site);
    expect(await reasonOf(verify(site, token, { email: 'someone@mailinator.com' }))).toBe('API.SPAM_EMAIL_DOMAIN');
    const answer = await verify(site, token, { email: 'someone@example.org' });
    expect(answer.body.verified).toBe(true);
    expect(answer.body).not.toHaveProperty('score');
  });
});

describe.each(['free', 'professional', 'premium', 'enterprise'] as const)(
  'what a proxy puts into ip, on %s',
  (tier) => {
    test('anything but an address is ignored and reported, and the token verifies', () =>
      expectRows(
        [
          null,
          '',
          'unknown',
          '1.2.3',
          '192.0.2.9:4711',
          '[2001:db8::1]:443',
          '192.0.2.9, 198.51.100.1',
          'x'.repeat(5000),
          ['192.0.2.9'],
          { address: '192.0.2.9' },
          7,
          true,
        ],
        async (ip) => {
          const site = await makeSite(tier);
          const token = await tokenFor(site);
          expect(await verify(site, token, { ip })).toMatchObject({
            status: 200,
            body: { verified: true, notEvaluated: ['ip'] },
          });
          expect((await verify(site, token, { ip })).body).toMatchObject({ verified: false, notEvaluated: ['ip'] });
        },
      ));

    test('an address with spaces around it counts, and no address is nothing to report', async () => {
      const site = await makeSite(tier);
      for (const extra of [{ ip: ' 192.0.2.9 ' }, { ip: '2001:DB8::1' }, {}]) {
        const { body } = await verify(site, await tokenFor(site), extra);
        expect(body.verified).toBe(true);
        expect(body).not.toHaveProperty('notEvaluated');
      }
    });
  },
);

describe('an email field that the visitor left empty', () => {
  test.each([[''], ['  '], [null]])('%j counts as absent where the spam filter is on', async (email) => {
    const emailRules = { enabled: true, useDefaultPatterns: true };
    const site = await makeSite('professional', {
      spamEmailDomainCheckEnabled: true,
      spamFilter: { enabled: true, emailRules },
    });
    expect((await verify(site, await tokenFor(site), { email })).body).toMatchObject({ verified: true });
    expect(await reasonOf(verify(site, await tokenFor(site), { email: 'x' }))).toBe('API.SPAM_EMAIL_DOMAIN');
  });
});

describe('a request with', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('free');
  });

  test('a mistake is refused with its status and key', () =>
    expectRows(
      [
        ['no body', '', 400, 'API.MISSING_BODY'],
        ['no JSON', '{', 400, 'API.PARSE_ERROR'],
        ['an array', '[]', 400, 'API.INVALID_BODY'],
        ['no token', { secret: 'x' }, 400, 'API.INVALID_BODY'],
        ['no secret', { token: 'x' }, 400, 'API.INVALID_BODY'],
        ['a token that is no text', { secret: 'x', token: 7 }, 400, 'API.INVALID_BODY'],
        ['an unknown member', { secret: 'x', token: 'x', hostName: 'y' }, 400, 'API.INVALID_BODY'],
        ['an unknown secret', { secret: 'x', token: 'x' }, 401, 'GENERAL.INVALID_SECRET_KEY'],
      ],
      async ([, body, status, key]) => {
        const answer = await post('/siteverify', body);
        expect(answer).toMatchObject({ status, body: { error: { code: status, key } } });
      },
    ));

  test('a body above 1 MiB or of an unknown type is refused', async () => {
    const big = { secret: site.secretKey, token: 'x'.repeat(1_100_000) };
    expect((await post('/siteverify', big)).body.error.key).toBe('API.BODY_TOO_LARGE');
    expect((await post('/siteverify', 'x', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('the secret of a disabled account is 403, of a deleted site 401', async () => {
    const accountId = await makeAccount('free');
    const gone = await makeSite('free', {}, accountId);
    await env.DB.prepare('UPDATE sites SET active = 0 WHERE site_key = ?').bind(gone.siteKey).run();
    expect((await post('/siteverify', { secret: gone.secretKey, token: 'x' })).status).toBe(401);
    const owed = await makeSite('free', {}, accountId);
    await env.DB.prepare('UPDATE accounts SET disabled = 1 WHERE id = ?').bind(accountId).run();
    expect((await post('/siteverify', { secret: owed.secretKey, token: 'x' })).status).toBe(403);
  });
});

describe.concurrent('test keys', () => {
  test('respond the same whatever the token, marked as a test', () =>
    expectRows(
      [
        ['pass', { verified: true }],
        ['slow', { verified: true }],
        ['interactive', { verified: true }],
        ['score', { verified: true, score: 0.9 }],
        ['fail', { verified: false, reason: 'API.USER_NOT_VERIFIED' }],
        ['expired', { verified: false, reason: 'API.TIMESTAMP_TOO_OLD' }],
        ['spent', { verified: false, reason: 'API.USER_ALREADY_VERIFIED' }],
      ] as const,
      async ([behaviour, expected]) => {
        const answer = await verify({ secretKey: testSecretKey(behaviour) }, 'anything');
        expect(answer).toMatchObject({ status: 200, body: { ...expected, test: true } });
        const shaped = await post('/recaptcha/api/siteverify', {
          secret: testSecretKey(behaviour),
          response: 'anything',
        });
        expect(shaped).toMatchObject({ status: 200, body: { success: expected.verified, test: true } });
      },
    ));

  test('verify nothing at a real site', async () => {
    const site = await makeSite('premium');
    const token = await tokenFor({ siteKey: testSiteKey('pass') });
    expect(await reasonOf(verify(site, token))).toBe('API.SITE_KEY_MISMATCH');
  });
});
