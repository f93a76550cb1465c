/** A way into the console that would end the session of somebody else asks first, and changes nothing until it is told to. */
import { describe, expect, test } from 'vitest';
import { deleteUser } from '../../../src/store/d1/users.ts';
import { Browser, linkFor, newMember, signedIn } from './console-visitor.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

const COOKIE = '__Host-gatehouse';

const emailOf = async (browser: Browser): Promise<unknown> => (await browser.get('/console/auth/me')).body.email;

describe('a browser with a session', () => {
  test('is not given to the addressee of a link without a question, which spends nothing', async () => {
    const { browser, email } = await signedIn('admin');
    const insider = await newMember('viewer');
    const token = await linkFor(insider.email);
    const cookie = browser.cookies.get(COOKIE);
    for (const replaces of [undefined, insider.email, 'somebody@example.com']) {
      const asked = await browser.post('/console/auth/link', { token, replaces });
      expect(asked).toMatchObject({
        status: 200,
        body: { signedIn: false, isSignedInAs: email, signsInAs: insider.email },
      });
      expect(asked.headers.getSetCookie()).toEqual([]);
      expect(await emailOf(browser)).toBe(email);
    }
    const agreed = await browser.post('/console/auth/link', { token, replaces: email });
    expect(agreed.body).toMatchObject({ signedIn: true });
    expect(await emailOf(browser)).toBe(insider.email);
    const former = new Browser();
    former.cookies.set(COOKIE, cookie ?? '');
    expect(await former.isSignedIn()).toBe(false);
  });

  test('is asked nothing by a link for the same person, nor after its session has ended', async () => {
    const { browser, email } = await signedIn('viewer');
    expect((await browser.signInByLink(email)).body.signedIn).toBe(true);
    const cookie = browser.cookies.get(COOKIE) ?? '';
    await browser.post('/console/auth/sign-out');
    browser.cookies.set(COOKIE, cookie);
    const other = await newMember('viewer');
    expect((await browser.signInByLink(other.email)).body.signedIn).toBe(true);
  });

  test('learns nothing from a link that is spent or made up, and stays signed in', async () => {
    const { browser, email } = await signedIn('viewer');
    const other = await newMember('viewer');
    const token = await linkFor(other.email);
    await new Browser().post('/console/auth/link', { token });
    for (const dead of [token, 'A'.repeat(43)]) {
      const refused = await browser.post('/console/auth/link', { token: dead });
      expect(refused.body.error.key).toBe('CONSOLE.LINK_SPENT');
      expect(JSON.stringify(refused.body)).not.toContain(other.email);
    }
    expect(await emailOf(browser)).toBe(email);
  });

  test('stays signed in when the other person turns out to be no member', async () => {
    const { browser, email } = await signedIn('viewer');
    const gone = await newMember('viewer');
    const token = await linkFor(gone.email);
    await deleteUser(serviceEnv, gone.test.account.id, gone.email);
    const refused = await browser.post('/console/auth/link', { token, replaces: email });
    expect(refused.body.error.key).toBe('CONSOLE.NOT_A_MEMBER');
    expect(await emailOf(browser)).toBe(email);
  });

  test('is asked before a passkey of somebody else signs in, and the same touch of it counts afterwards', async () => {
    const owner = await signedIn('viewer');
    const authenticator = await owner.browser.enrol();
    const { browser, email } = await signedIn('admin');
    const options = await browser.post('/console/auth/passkey/options');
    const credential = await authenticator.get(options.body);
    const asked = await browser.post('/console/auth/passkey/verify', { credential });
    expect(asked.body).toEqual({ signedIn: false, isSignedInAs: email, signsInAs: owner.email });
    expect(await emailOf(browser)).toBe(email);
    const agreed = await browser.post('/console/auth/passkey/verify', { credential, replaces: email });
    expect(agreed.body.signedIn).toBe(true);
    expect(await emailOf(browser)).toBe(owner.email);
    const replay = await browser.post('/console/auth/passkey/verify', { credential, replaces: owner.email });
    expect(replay.body.error.key).toBe('CONSOLE.SIGN_IN_LATE');
  });

  test('is asked before a choice of account that somebody else has begun', async () => {
    const both = await newMember('viewer');
    const second = await newAccount();
    await call(second.token, '/users/create', { email: both.email, name: 'Both', role: 'admin' });
    const { ticket } = (await new Browser().signInByLink(both.email)).body;
    const { browser, email } = await signedIn('admin');
    const choice = { ticket, accountId: second.account.id };
    expect((await browser.post('/console/auth/choose', choice)).body).toMatchObject({
      isSignedInAs: email,
      signsInAs: both.email,
    });
    expect(await emailOf(browser)).toBe(email);
    expect((await browser.post('/console/auth/choose', { ...choice, replaces: email })).body.signedIn).toBe(true);
    expect(await emailOf(browser)).toBe(both.email);
  });
});
