/** What the cookie of a session is refused for, what it costs, and what it still does for a member of a disabled account. */
import { describe, expect, test } from 'vitest';
import { updateAccount } from '../../../src/store/d1/accounts.ts';
import { later, testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';
import { Browser, signedIn } from './console-visitor.ts';
import { call, newAccount, send, serviceEnv, serviceUrl } from './service-under-test.ts';

const COOKIE = '__Host-gatehouse';

/** The database of the service, and how often it was asked. */
function countedDatabase(): { DB: D1Database; asked: () => number } {
  let asked = 0;
  const DB = new Proxy(serviceEnv.DB, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name === 'prepare') asked += 1;
      return member.bind(target);
    },
  });
  return { DB, asked: () => asked };
}

describe('a member of an account that was disabled meanwhile', () => {
  const disabled = async () => {
    const member = await signedIn('admin');
    await updateAccount(serviceEnv, member.test.account.id, { disabled: true }, testNow());
    return member;
  };

  test('learns it, may read and change nothing of the account, and signs out', async () => {
    const { browser, email } = await disabled();
    expect((await browser.get('/console/auth/me')).body).toMatchObject({
      email,
      account: { disabled: true },
      callsOwnMachine: false,
      permissions: {},
      accounts: [],
    });
    const refused = { status: 403, body: { error: { key: 'API.ACCOUNT_DISABLED' } } };
    expect(await browser.post('/sites/get')).toMatchObject(refused);
    expect(await browser.get('/console/auth/passkeys')).toMatchObject(refused);
    expect(await browser.post('/console/auth/passkeys/options')).toMatchObject(refused);
    expect((await browser.post('/console/auth/sign-out')).status).toBe(200);
    expect((await browser.get('/console/auth/me')).status).toBe(401);
  });

  test('sees and ends their sessions, here and everywhere', async () => {
    const { browser, email, test: account } = await disabled();
    await updateAccount(serviceEnv, account.account.id, { disabled: false }, testNow());
    await new Browser().signInByLink(email);
    await updateAccount(serviceEnv, account.account.id, { disabled: true }, testNow());
    const { sessions } = (await browser.get('/console/auth/sessions')).body;
    const { id } = sessions.find((one: { current: boolean }) => !one.current);
    expect((await browser.post('/console/auth/sessions/revoke', { id })).status).toBe(200);
    expect((await browser.post('/console/auth/sign-out-everywhere')).body).toEqual({ success: true, ended: 1 });
  });

  test('goes to another account of theirs, and not to a disabled one', async () => {
    const { browser, email, test: former } = await disabled();
    const other = await newAccount();
    await call(other.token, '/users/create', { email, name: 'Somebody', role: 'viewer' });
    const { accounts } = (await browser.get('/console/auth/me')).body;
    expect(accounts.map((one: { accountId: string }) => one.accountId)).toEqual([other.account.id]);
    const refused = await browser.post('/console/auth/choose', { accountId: former.account.id });
    expect(refused.body.error.key).toBe('CONSOLE.NOT_A_MEMBER');
    expect((await browser.post('/console/auth/choose', { accountId: other.account.id })).status).toBe(200);
    expect((await browser.get('/console/auth/me')).body.account).toMatchObject({
      id: other.account.id,
      disabled: false,
    });
  });
});

describe('hostile cookies', () => {
  test('that were never issued are nobody', () =>
    expectRows(
      [
        ['', 'empty'],
        ['x', 'short'],
        ['A'.repeat(65), 'unknown'],
        ['A'.repeat(5000), 'long'],
        ["' OR 1=1 --", 'with a quote'],
        ['%00%00', 'escaped'],
      ],
      async ([value]) => {
        const browser = new Browser();
        browser.cookies.set(COOKIE, value);
        expect((await browser.post('/sites/get')).status).toBe(401);
        expect((await browser.get('/console/auth/me')).status).toBe(401);
      },
    ));

  test('that this service did not make reach no database', async () => {
    const { browser } = await signedIn('viewer');
    const good = browser.cookies.get(COOKIE) ?? '';
    const { DB, asked } = countedDatabase();
    const statusOf = async (value: string) => {
      const headers = { 'sec-fetch-site': 'same-origin', cookie: `${COOKIE}=${value}`, origin: serviceUrl };
      return (await send('/console/auth/me', { headers }, { ...serviceEnv, DB })).status;
    };
    // The first call of an isolate reads the root key too.
    expect(await statusOf(good)).toBe(200);
    const before = asked();
    const other = good.startsWith('A') ? 'B' : 'A';
    const forged = [
      'A'.repeat(43),
      'A'.repeat(good.length),
      `${other}${good.slice(1)}`,
      `${good.slice(0, -2)}${other}A`,
    ];
    for (const value of [...forged, good.slice(0, 43), `${good}A`, '', 'x'.repeat(8000)]) {
      expect(await statusOf(value)).toBe(401);
    }
    expect(asked()).toBe(before);
    expect(await statusOf(good)).toBe(200);
    expect(asked()).toBeGreaterThan(before);
  });

  test('that the service made once are counted, so that one which has ended costs a bounded number of reads', async () => {
    const { browser } = await signedIn('viewer');
    const ended = browser.cookies.get(COOKIE) ?? '';
    await browser.post('/console/auth/sign-out');
    const { DB, asked } = countedDatabase();
    const headers = { 'sec-fetch-site': 'same-origin', cookie: `${COOKIE}=${ended}`, origin: serviceUrl };
    const ask = async () => (await send('/console/auth/me', { headers }, { ...serviceEnv, DB })).status;
    // The minute stands still. The sign-out was in another one.
    later(60_000);
    const statuses: number[] = [];
    for (let round = 0; round < 6; round++) {
      statuses.push(...(await Promise.all(Array.from({ length: 500 }, ask))));
    }
    expect(new Set(statuses)).toEqual(new Set([401]));
    const before = asked();
    expect(await ask()).toBe(429);
    expect(asked()).toBe(before);
  });

  test('two cookies of the name are nobody, because one of them was planted', async () => {
    const { browser } = await signedIn('viewer');
    const cookie = `${COOKIE}=${browser.cookies.get(COOKIE)}; ${COOKIE}=${'A'.repeat(65)}`;
    expect((await browser.call('POST', '/sites/get', {}, { cookie })).status).toBe(401);
  });
});
