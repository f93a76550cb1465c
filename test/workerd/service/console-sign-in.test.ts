/** Links and sessions of the console, as a browser and as somebody who attacks one. */
import { describe, expect, test } from 'vitest';
import { updateAccount } from '../../../src/store/d1/accounts.ts';
import { deleteUser, userByEmail } from '../../../src/store/d1/users.ts';
import { purgeSignIn } from '../../../src/store/d1/sign-in-links.ts';
import { later, testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';
import { Browser, linkFor, newMember, signedIn } from './console-visitor.ts';
import { call, newAccount, serviceEnv, serviceUrl } from './service-under-test.ts';

const COOKIE = '__Host-gatehouse';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('a one-time link', () => {
  test('signs a team member in, and the first sign-in makes an invited user active', async () => {
    const { test: account, email } = await newMember('viewer');
    expect((await userByEmail(serviceEnv, account.account.id, email))?.status).toBe('invited');
    const browser = new Browser();
    const answer = await browser.signInByLink(email);
    expect(answer).toMatchObject({ status: 200, body: { signedIn: true, accountId: account.account.id } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-gatehouse=[\w-]{65}; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
    ]);
    expect((await userByEmail(serviceEnv, account.account.id, email))?.status).toBe('active');
    expect((await browser.get('/console/auth/me')).body).toMatchObject({
      email,
      role: 'viewer',
      account: { id: account.account.id, tier: 'enterprise' },
      permissions: { Protect: ['readProtect'] },
      passkeyCount: 0,
    });
  });

  test('works once: a replay is refused', async () => {
    const { email } = await newMember('viewer');
    const token = await linkFor(email);
    expect((await new Browser().post('/console/auth/link', { token })).status).toBe(200);
    const replay = await new Browser().post('/console/auth/link', { token });
    expect(replay).toMatchObject({ status: 401, body: { error: { key: 'CONSOLE.LINK_SPENT' } } });
    expect(replay.headers.getSetCookie()).toEqual([]);
  });

  test('works for exactly one of twenty browsers that open it at the same time', async () => {
    const { email } = await newMember('viewer');
    const token = await linkFor(email);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => new Browser().post('/console/auth/link', { token })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  test('expires after 15 minutes', async () => {
    const { email } = await newMember('viewer');
    const token = await linkFor(email);
    later(15 * MINUTE_MS);
    expect((await new Browser().post('/console/auth/link', { token })).status).toBe(401);
  });

  test('opens nothing for somebody who is no member any more, or was none ever', async () => {
    const { test: account, email } = await newMember('viewer');
    const token = await linkFor(email);
    await deleteUser(serviceEnv, account.account.id, email);
    const refused = { status: 403, body: { error: { key: 'CONSOLE.NOT_A_MEMBER' } } };
    expect(await new Browser().post('/console/auth/link', { token })).toMatchObject(refused);
    expect(await new Browser().signInByLink('stranger@example.com')).toMatchObject(refused);
  });

  test('opens no disabled account', async () => {
    const { test: account, email } = await newMember('admin');
    await updateAccount(serviceEnv, account.account.id, { disabled: true }, testNow());
    expect((await new Browser().signInByLink(email)).body.error.key).toBe('API.ACCOUNT_DISABLED');
  });

  test('is stored as a hash', async () => {
    const { email } = await newMember('viewer');
    const token = await linkFor(email);
    const { results } = await serviceEnv.DB.prepare('SELECT * FROM sign_in_links WHERE email = ?').bind(email).all();
    expect(results).toHaveLength(1);
    expect(JSON.stringify(results)).not.toContain(token);
  });
});

describe('a member of several accounts', () => {
  test('chooses one, and goes to the other without signing in again', async () => {
    const { test: first, email } = await newMember('viewer');
    const second = await newAccount();
    await call(second.token, '/users/create', { email, name: 'Somebody', role: 'admin' });
    const browser = new Browser();
    const answer = await browser.signInByLink(email);
    expect(answer.body).toMatchObject({ signedIn: false, ticket: expect.any(String) });
    expect(answer.body.accounts.map((one: { accountId: string }) => one.accountId)).toEqual([
      first.account.id,
      second.account.id,
    ]);
    expect(await browser.isSignedIn()).toBe(false);

    const { ticket } = answer.body;
    await browser.post('/console/auth/choose', { ticket, accountId: second.account.id });
    expect((await browser.get('/console/auth/me')).body).toMatchObject({
      account: { id: second.account.id },
      role: 'admin',
    });
    const replay = await new Browser().post('/console/auth/choose', { ticket, accountId: first.account.id });
    expect(replay.body.error.key).toBe('CONSOLE.SIGN_IN_LATE');

    const former = browser.cookies.get(COOKIE);
    await browser.post('/console/auth/choose', { accountId: first.account.id });
    expect((await browser.get('/console/auth/me')).body).toMatchObject({
      account: { id: first.account.id },
      role: 'viewer',
    });
    expect(browser.cookies.get(COOKIE)).not.toBe(former);
  });

  test('cannot choose the account of somebody else', async () => {
    const { browser } = await signedIn('admin');
    const other = await newAccount();
    expect((await browser.post('/console/auth/choose', { accountId: other.account.id })).status).toBe(403);
  });
});

describe('a session', () => {
  test('calls the management API, and the audit trail names the person', async () => {
    const { browser, email, test: account } = await signedIn('admin');
    const made = await browser.post('/sites/create', { name: 'shop', settings: { domains: ['shop.example'] } });
    expect(made.status).toBe(200);
    const { body } = await call(account.token, '/audit-trail/get', {});
    expect(body.entries[0]).toMatchObject({
      operation: 'create-site',
      userEmail: email,
      apiKeyId: null,
      apiKeyName: null,
    });
  });

  test('ends after 12 hours without a call, and after 7 days with calls', async () => {
    const idle = await signedIn('viewer');
    const busy = await signedIn('viewer');
    for (let hours = 0; hours < 7 * 24; hours += 11) {
      expect(await busy.browser.isSignedIn()).toBe(true);
      later(11 * HOUR_MS);
      if (hours === 0) expect(await idle.browser.isSignedIn()).toBe(true);
    }
    expect((await busy.browser.get('/console/auth/me')).body.error.key).toBe('CONSOLE.SIGNED_OUT');
    expect((await idle.browser.get('/console/auth/me')).status).toBe(401);
  });

  test('of a stolen cookie ends with the sign-out of its owner, at the next call', async () => {
    const { browser } = await signedIn('admin');
    const thief = new Browser();
    thief.cookies.set(COOKIE, browser.cookies.get(COOKIE) ?? '');
    expect(await thief.isSignedIn()).toBe(true);
    const answer = await browser.post('/console/auth/sign-out');
    expect(answer.headers.getSetCookie()).toEqual([
      '__Host-gatehouse=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0',
    ]);
    expect(await thief.isSignedIn()).toBe(false);
  });

  test('is listed, and can be revoked from another browser of the person, and by nobody else', async () => {
    const { browser, email } = await signedIn('viewer');
    const phone = new Browser();
    await phone.signInByLink(email);
    const stranger = await signedIn('admin');
    const list = (await browser.get('/console/auth/sessions')).body.sessions;
    expect(list).toHaveLength(2);
    expect(list).toContainEqual(
      expect.objectContaining({ current: true, method: 'link', userAgent: 'Browser of a test' }),
    );
    expect(JSON.stringify(list)).not.toContain(browser.cookies.get(COOKIE));
    const { id } = list.find((one: { current: boolean }) => !one.current);
    expect((await stranger.browser.post('/console/auth/sessions/revoke', { id })).status).toBe(404);
    expect(await phone.isSignedIn()).toBe(true);
    expect((await browser.post('/console/auth/sessions/revoke', { id })).status).toBe(200);
    expect(await phone.isSignedIn()).toBe(false);
    expect(await browser.isSignedIn()).toBe(true);
  });

  test('ends everywhere at once', async () => {
    const { browser, email } = await signedIn('viewer');
    const others = [new Browser(), new Browser()];
    for (const other of others) await other.signInByLink(email);
    expect((await browser.post('/console/auth/sign-out-everywhere')).body).toEqual({ success: true, ended: 3 });
    for (const one of [browser, ...others]) expect(await one.isSignedIn()).toBe(false);
  });

  test('is never the value that somebody planted in the browser, and replaces the one before', async () => {
    const { email } = await newMember('viewer');
    const planted = 'A'.repeat(65);
    const browser = new Browser();
    browser.cookies.set(COOKIE, planted);
    await browser.signInByLink(email);
    const first = browser.cookies.get(COOKIE);
    expect(first).not.toBe(planted);
    const attacker = new Browser();
    attacker.cookies.set(COOKIE, planted);
    expect(await attacker.isSignedIn()).toBe(false);
    await browser.signInByLink(email);
    attacker.cookies.set(COOKIE, first ?? '');
    expect(await attacker.isSignedIn()).toBe(false);
    expect((await browser.get('/console/auth/sessions')).body.sessions).toHaveLength(1);
  });

  test('is at most one of fifty: the next sign-in ends the one not used for longest', async () => {
    const { email } = await newMember('viewer');
    const browsers = Array.from({ length: 51 }, () => new Browser());
    for (const browser of browsers) {
      await browser.signInByLink(email);
      later(1);
    }
    expect(await browsers[0]?.isSignedIn()).toBe(false);
    expect(await browsers[1]?.isSignedIn()).toBe(true);
    expect((await browsers[50]?.get('/console/auth/sessions'))?.body.sessions).toHaveLength(50);
  });

  test('is stored as a hash, and deleted by the scheduled run when it is over', async () => {
    const { browser, email } = await signedIn('viewer');
    const rows = () => serviceEnv.DB.prepare('SELECT * FROM console_sessions WHERE email = ?').bind(email).all();
    expect(JSON.stringify((await rows()).results)).not.toContain(browser.cookies.get(COOKIE));
    await purgeSignIn(serviceEnv, testNow(), 1000);
    expect((await rows()).results).toHaveLength(1);
    await purgeSignIn(serviceEnv, testNow() + 12 * HOUR_MS, 1000);
    expect((await rows()).results).toHaveLength(0);
  });
});

describe('a call with a session from elsewhere', () => {
  const elsewhere: [string, Record<string, string | null>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another host of this site', { 'sec-fetch-site': 'same-site', origin: 'https://shop.gatehouse.test' }],
    ['the address bar', { 'sec-fetch-site': 'none', origin: null }],
    ['a browser without Sec-Fetch-Site on another site', { 'sec-fetch-site': null, origin: 'https://evil.example' }],
    ['a frame without an origin', { 'sec-fetch-site': null, origin: 'null' }],
    ['a program that has the cookie', { 'sec-fetch-site': null, origin: null }],
    ['a page of the same host at another port', { 'sec-fetch-site': 'same-origin', origin: `${serviceUrl}:8443` }],
  ];

  test('is refused wherever it comes from', () =>
    expectRows(
      elsewhere,
      async ([, headers]) => {
        const { browser } = await signedIn('admin');
        for (const [method, path] of [
          ['POST', '/sites/get'],
          ['GET', '/users/get'],
          ['POST', '/users/create'],
          ['GET', '/console/auth/me'],
          ['POST', '/console/auth/sign-out-everywhere'],
        ] as const) {
          const answer = await browser.call(method, path, {}, headers);
          expect([path, answer.status, answer.body.error?.key]).toEqual([path, 403, 'CONSOLE.NOT_FROM_CONSOLE']);
          expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        }
        expect(await browser.isSignedIn()).toBe(true);
      },
      ([name]) => name,
    ));

  test('cannot sign a visitor in as somebody else', () =>
    expectRows(elsewhere, async ([, headers]) => {
      const { email } = await newMember('viewer');
      const token = await linkFor(email);
      const answer = await new Browser().call('POST', '/console/auth/link', { token }, headers);
      expect(answer).toMatchObject({ status: 403, body: { error: { key: 'CONSOLE.NOT_FROM_CONSOLE' } } });
      expect((await new Browser().post('/console/auth/link', { token })).status).toBe(200);
    }));

  test('is accepted from an older browser that sends only our Origin', async () => {
    const { browser } = await signedIn('viewer');
    const headers = { 'sec-fetch-site': null, origin: serviceUrl };
    expect((await browser.call('POST', '/sites/get', {}, headers)).status).toBe(200);
  });

  test('does not fall back to the session when an API key comes along, and the key needs no origin', async () => {
    const { browser, test: account } = await signedIn('viewer');
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const wrong = await browser.call('POST', '/sites/get', {}, { authorization: 'Bearer wrong' });
    expect(wrong).toMatchObject({ status: 401, body: { error: { key: 'API.UNAUTHORIZED' } } });
    const key = await browser.call('POST', '/sites/get', {}, { ...foreign, authorization: `Bearer ${account.token}` });
    expect(key.body[0].secretKey).toEqual(expect.any(String));
  });
});

test('attempts to sign in are counted per network', async () => {
  const browser = new Browser();
  const statuses = [];
  for (let attempt = 0; attempt < 130; attempt++) {
    statuses.push((await browser.post('/console/auth/link', { token: 'guess' })).status);
  }
  expect(statuses[0]).toBe(401);
  expect(statuses).toContain(429);
  expect((await new Browser().post('/console/auth/link', { token: 'guess' })).status).toBe(401);
});

test('a mistake in a sign-in is refused with the envelope of the API', () =>
  expectRows(
    [
      ['/console/auth/link', {}],
      ['/console/auth/link', { token: 'x'.repeat(5000) }],
      ['/console/auth/link', { token: 7 }],
      ['/console/auth/link', { token: 'x', more: true }],
      ['/console/auth/choose', { ticket: 'v1.AAAA', accountId: 'x' }],
      ['/console/auth/passkey/verify', { credential: { id: '', response: {} } }],
      ['/console/auth/passkey/verify', { credential: 'x' }],
    ],
    async ([path, body]) => {
      const answer = await new Browser().post(path, body);
      expect([400, 401]).toContain(answer.status);
      expect(answer.body.error).toMatchObject({
        code: answer.status,
        key: expect.any(String),
        message: expect.any(String),
      });
    },
  ));
