/** What each role may do through the console: every operation of the table, and changes while somebody is signed in. */
import { describe, expect, test } from 'vitest';
import { permissionsFor } from '../../../src/contract/management/permissions.ts';
import { openConsoleSession } from '../../../src/store/d1/console-sessions.ts';
import { addPasskey } from '../../../src/store/d1/passkeys.ts';
import { createUser, updateUser } from '../../../src/store/d1/users.ts';
import { operations } from '../../../src/service/operations/operation-table.ts';
import { Browser, signedIn } from './console-visitor.ts';
import { call, newAccount, send, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const COOKIE = '__Host-gatehouse';

describe('a role', () => {
  const reading = ['readProtect', 'getTraffic', 'readSites', 'getRules'];
  const allowed = {
    viewer: reading,
    analyst: [...reading, 'searchCaptchaRecords', 'getUsers'],
  };

  test.each(['viewer', 'analyst'] as const)('%s may call what its permissions say, and nothing else', async (role) => {
    const { browser } = await signedIn(role);
    for (const operation of operations) {
      const isAllowed = permissionsFor(operation).some((one) => allowed[role].includes(one));
      const response = await send(operation.path, {
        method: operation.method,
        headers: {
          'sec-fetch-site': 'same-origin',
          cookie: `${COOKIE}=${browser.cookies.get(COOKIE)}`,
          ...(operation.method === 'GET' ? {} : { 'content-type': 'application/json' }),
        },
        // The body is read after the permission: a broken one shows which came first.
        ...(operation.method === 'GET' ? {} : { body: '{"broken' }),
      });
      const isRefused = response.status === 403;
      expect([operation.name, isRefused]).toEqual([operation.name, !isAllowed]);
      if (isRefused) {
        const { error } = await response.json<{ error: { key: string; message: string } }>();
        expect(error.key).toBe('API.INSUFFICIENT_PERMISSIONS');
        expect(error.message).toContain(`Your role does not have the permission`);
        expect(error.message).toContain(operation.permission);
      }
    }
  });

  test('that changes while somebody is signed in counts from the next call on', async () => {
    const { browser, email, test: account } = await signedIn('viewer');
    const write = () => browser.post('/users/create', { email: `x${email}`, name: 'X', role: 'viewer' });
    expect((await write()).status).toBe(403);
    await updateUser(serviceEnv, account.account.id, email, { role: 'admin' }, testNow());
    expect((await write()).status).toBe(200);
    await updateUser(serviceEnv, account.account.id, email, { role: 'analyst' }, testNow());
    expect((await write()).status).toBe(403);
  });

  test('lives on in nothing that is written while the user is removed: a new invitation brings none of it back', async () => {
    const { account } = await newAccount();
    const person = { accountId: account.id, email: 'late@example.com' };
    const session = { ...person, method: 'link', address: null, userAgent: '' } as const;
    const passkey = { credentialId: 'late', email: person.email, name: 'late', publicKey: { kty: 'EC' }, counter: 0 };
    const stored = async () => {
      const { results } = await serviceEnv.DB.prepare(
        `SELECT (SELECT COUNT(*) FROM console_sessions WHERE email = ?1) AS sessions,
                (SELECT COUNT(*) FROM passkeys WHERE email = ?1) AS passkeys`,
      )
        .bind(person.email)
        .all();
      return results[0];
    };
    await openConsoleSession(serviceEnv, session, null, testNow());
    expect((await addPasskey(serviceEnv, passkey, testNow())).ok).toBe(false);
    expect(await stored()).toEqual({ sessions: 0, passkeys: 0 });
    await createUser(serviceEnv, account.id, { email: person.email, name: 'Late', role: 'viewer' }, testNow());
    await openConsoleSession(serviceEnv, session, null, testNow());
    expect((await addPasskey(serviceEnv, passkey, testNow())).ok).toBe(true);
    expect(await stored()).toEqual({ sessions: 1, passkeys: 1 });
  });

  test('goes with the user: who is removed is signed out at the next call', async () => {
    const { browser, email, test: account } = await signedIn('admin');
    expect((await call(account.token, '/users/delete', { email })).status).toBe(200);
    expect((await browser.post('/sites/get')).body.error.key).toBe('CONSOLE.SIGNED_OUT');
    await call(account.token, '/users/create', { email, name: 'Back', role: 'admin' });
    expect(await browser.isSignedIn()).toBe(false);
  });

  test('that may not change sites does not see their secrets', async () => {
    const { browser, test: account } = await signedIn('analyst');
    const { siteKey } = account.site;
    const admin = await signedIn('admin', account);
    expect((await admin.browser.post('/site/get', { siteKey })).body.secretKey).toBe(account.site.secretKey);
    for (const path of ['/sites/get', '/site/get']) {
      const answer = await browser.post(path, path === '/site/get' ? { siteKey } : {});
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).toContain(siteKey);
      expect(JSON.stringify(answer.body)).not.toContain('secretKey');
    }
  });

  test('of an admin does not reach the owner of the account', async () => {
    const { browser, test: account } = await signedIn('admin');
    const email = account.account.ownerEmail;
    expect((await browser.post('/users/delete', { email })).body.error.key).toBe('PORTAL.CANNOT_MODIFY_OWNER_USER');
    const owner = new Browser();
    await owner.signInByLink(email);
    expect((await owner.get('/console/auth/me')).body.role).toBe('owner');
  });
});
