/** Passkeys of the console: enrolment and sign-in with an authenticator in software, and every way to cheat with one. */
import { describe, expect, test } from 'vitest';
import { Authenticator, type Lies, type PasskeyKind } from '../../support/authenticator.ts';
import { later } from '../../support/clock.ts';
import { deleteUser } from '../../../src/store/d1/users.ts';
import { expectRows } from '../../support/rows.ts';
import { Browser, newMember, signedIn } from './console-visitor.ts';
import { serviceEnv, serviceUrl } from './service-under-test.ts';

const MINUTE_MS = 60_000;
const REFUSED = { status: 401, body: { error: { key: 'CONSOLE.PASSKEY_REFUSED' } } };
const LATE = { status: 401, body: { error: { key: 'CONSOLE.SIGN_IN_LATE' } } };

/** An enrolment whose authenticator lies. */
async function enrolWith(browser: Browser, lies: Lies) {
  const authenticator = await Authenticator.made(serviceUrl);
  const options = await browser.post('/console/auth/passkeys/options');
  const credential = await authenticator.create(options.body, lies);
  return browser.post('/console/auth/passkeys/enrol', { name: 'laptop', credential });
}

describe('a passkey', () => {
  test.each<PasskeyKind>(['ES256', 'RS256', 'EdDSA'])('of the algorithm %s is enrolled and signs in', async (kind) => {
    const { browser, email } = await signedIn('viewer');
    const authenticator = await browser.enrol('laptop', kind);
    await browser.post('/console/auth/sign-out');
    expect(await browser.isSignedIn()).toBe(false);
    expect(await browser.signInByPasskey(authenticator)).toMatchObject({ status: 200, body: { signedIn: true } });
    const { body } = await browser.get('/console/auth/sessions');
    expect(body.sessions.find((one: { current: boolean }) => one.current)).toMatchObject({ method: 'passkey' });
    expect((await browser.get('/console/auth/me')).body).toMatchObject({ email, passkeyCount: 1 });
  });

  test('is asked for without naming anybody, and with verification of the person', async () => {
    const { body } = await new Browser().post('/console/auth/passkey/options');
    expect(body).toMatchObject({ rpId: 'gatehouse.test', userVerification: 'required', allowCredentials: [] });
    const { browser, email } = await signedIn('viewer');
    const options = (await browser.post('/console/auth/passkeys/options')).body;
    expect(options).toMatchObject({
      rp: { id: 'gatehouse.test' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    // The name of a person inside an authenticator says nothing about them.
    expect(atob(options.user.id.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain(email);
  });

  test('is listed, named and renamed by its owner alone', async () => {
    const { browser } = await signedIn('viewer');
    const stranger = await signedIn('admin');
    const { id: credentialId } = await browser.enrol('laptop');
    await browser.enrol('phone');
    const names = async () =>
      (await browser.get('/console/auth/passkeys')).body.passkeys.map((one: { name: string }) => one.name);
    expect((await names()).toSorted()).toEqual(['laptop', 'phone']);
    const change = { credentialId, name: ' work laptop ' };
    expect((await stranger.browser.post('/console/auth/passkeys/rename', change)).status).toBe(404);
    expect((await browser.post('/console/auth/passkeys/rename', change)).status).toBe(200);
    expect((await names()).toSorted()).toEqual(['phone', 'work laptop']);
    expect((await stranger.browser.post('/console/auth/passkeys/remove', { credentialId })).status).toBe(404);
    expect((await browser.post('/console/auth/passkeys/remove', { credentialId })).status).toBe(200);
    expect(await names()).toEqual(['phone']);
  });

  test('that is the last one is removed only after a sign-in with a one-time link', async () => {
    const { browser, email } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    await browser.signInByPasskey(authenticator);
    const body = { credentialId: authenticator.id };
    const refused = await browser.post('/console/auth/passkeys/remove', body);
    expect(refused).toMatchObject({ status: 403, body: { error: { key: 'CONSOLE.LAST_PASSKEY' } } });
    expect(refused.body.error.message).toContain('npm run gatehouse -- signin');
    await browser.signInByLink(email);
    expect((await browser.post('/console/auth/passkeys/remove', body)).status).toBe(200);
    expect(await new Browser().signInByPasskey(authenticator)).toMatchObject(REFUSED);
  });

  test('is not made or removed in a session older than 15 minutes, so that a stolen cookie leaves none behind', async () => {
    const { browser } = await signedIn('viewer');
    const { id: credentialId } = await browser.enrol();
    const options = await browser.post('/console/auth/passkeys/options');
    const credential = await (await Authenticator.made(serviceUrl)).create(options.body);
    later(15 * MINUTE_MS);
    const again = { status: 403, body: { error: { key: 'CONSOLE.SIGN_IN_AGAIN' } } };
    expect(await browser.post('/console/auth/passkeys/options')).toMatchObject(again);
    expect(await browser.post('/console/auth/passkeys/enrol', { name: 'x', credential })).toMatchObject(again);
    expect(await browser.post('/console/auth/passkeys/remove', { credentialId })).toMatchObject(again);
  });

  test('goes with the last membership of its owner', async () => {
    const { browser, email, test: account } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    await deleteUser(serviceEnv, account.account.id, email);
    await newMember('viewer');
    const refused = await new Browser().signInByPasskey(authenticator);
    expect(refused.body.error.message).toBe('The passkey is not registered here, or was removed');
  });

  test('is one of twenty at most', async () => {
    const { browser } = await signedIn('viewer');
    for (let index = 0; index < 20; index++) await browser.enrol(`key ${index}`);
    const answer = await enrolWith(browser, {});
    expect(answer).toMatchObject({ status: 413, body: { error: { key: 'API.TOO_MANY_ITEMS' } } });
  });
});

const dishonest: [string, Lies][] = [
  ['made on the page of another origin', { origin: 'https://gatehouse.test.evil.example' }],
  ['made on another port', { origin: `${serviceUrl}:8443` }],
  ['made on http', { origin: serviceUrl.replace('https:', 'http:') }],
  ['of another relying party', { rpId: 'evil.example' }],
  ['made inside a frame of another site', { crossOrigin: true }],
  ['used without verification of the person', { verified: false }],
];

describe('an enrolment', () => {
  test('that is not honest is refused', () =>
    expectRows(dishonest, async ([, lies]) => {
      const { browser } = await signedIn('viewer');
      expect(await enrolWith(browser, lies)).toMatchObject(REFUSED);
    }));

  test('with the answer of a sign-in is refused', async () => {
    const { browser } = await signedIn('viewer');
    expect(await enrolWith(browser, { type: 'webauthn.get' })).toMatchObject(REFUSED);
  });

  test('with a challenge of nobody, or of a sign-in, is refused', async () => {
    const { browser } = await signedIn('viewer');
    expect(await enrolWith(browser, { challenge: 'AAAA' })).toMatchObject(LATE);
    const { challenge } = (await browser.post('/console/auth/passkey/options')).body;
    expect(await enrolWith(browser, { challenge })).toMatchObject(LATE);
  });

  test('with the challenge of another session is refused', async () => {
    const { browser } = await signedIn('viewer');
    const other = await signedIn('viewer');
    const { challenge } = (await other.browser.post('/console/auth/passkeys/options')).body;
    expect(await enrolWith(browser, { challenge })).toMatchObject(LATE);
  });

  test('of the same passkey twice, and with the same challenge twice, is refused', async () => {
    const { browser } = await signedIn('viewer');
    const authenticator = await Authenticator.made(serviceUrl);
    const enrol = async (challenge: string) => {
      const credential = await authenticator.create({ challenge, rp: { id: 'gatehouse.test' } });
      return browser.post('/console/auth/passkeys/enrol', { name: 'laptop', credential });
    };
    const { challenge } = (await browser.post('/console/auth/passkeys/options')).body;
    expect((await enrol(challenge)).status).toBe(200);
    expect(await enrol(challenge)).toMatchObject(LATE);
    const again = (await browser.post('/console/auth/passkeys/options')).body;
    expect(await enrol(again.challenge)).toMatchObject(REFUSED);
  });

  test('whose attestation cannot be read is refused, not an error', () =>
    expectRows(['', 'AAAA', 'gA', '9'.repeat(30_000)], async (bytes) => {
      const { browser } = await signedIn('viewer');
      const authenticator = await Authenticator.made(serviceUrl);
      const options = await browser.post('/console/auth/passkeys/options');
      const credential = (await authenticator.create(options.body)) as { response: { attestationObject: string } };
      credential.response.attestationObject = bytes;
      expect(await browser.post('/console/auth/passkeys/enrol', { name: 'x', credential })).toMatchObject(REFUSED);
    }));
});

describe('a sign-in with a passkey', () => {
  test('that is not honest is refused', () =>
    expectRows(dishonest, async ([, lies]) => {
      const { browser } = await signedIn('viewer');
      const authenticator = await browser.enrol();
      expect(await new Browser().signInByPasskey(authenticator, lies)).toMatchObject(REFUSED);
    }));

  test('with the answer of an enrolment, or in the name of somebody else, is refused', async () => {
    const { browser } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    const other = await signedIn('admin');
    const { user } = (await other.browser.post('/console/auth/passkeys/options')).body;
    expect(await new Browser().signInByPasskey(authenticator, { type: 'webauthn.create' })).toMatchObject(REFUSED);
    expect(await new Browser().signInByPasskey(authenticator, { userHandle: user.id })).toMatchObject(REFUSED);
  });

  test('that is replayed is refused', async () => {
    const { browser } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    const options = await browser.post('/console/auth/passkey/options');
    const credential = await authenticator.get(options.body, { counter: 0 });
    expect((await browser.post('/console/auth/passkey/verify', { credential })).status).toBe(200);
    expect(await new Browser().post('/console/auth/passkey/verify', { credential })).toMatchObject(LATE);
  });

  test('that is sent ten times at once succeeds once', async () => {
    const { browser } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    const options = await browser.post('/console/auth/passkey/options');
    const credential = await authenticator.get(options.body, { counter: 0 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => new Browser().post('/console/auth/passkey/verify', { credential })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('with a challenge that this service did not make, or made five minutes ago, is refused', async () => {
    const { browser } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    expect(await new Browser().signInByPasskey(authenticator, { challenge: 'djEuQUFBQQ' })).toMatchObject(LATE);
    const options = await browser.post('/console/auth/passkey/options');
    const credential = await authenticator.get(options.body);
    later(5 * MINUTE_MS);
    expect(await browser.post('/console/auth/passkey/verify', { credential })).toMatchObject(LATE);
  });

  test('whose counter does not rise is refused: somebody has a copy of the authenticator', async () => {
    const { browser } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    expect((await browser.signInByPasskey(authenticator, { counter: 7 })).status).toBe(200);
    expect(await browser.signInByPasskey(authenticator, { counter: 7 })).toMatchObject(REFUSED);
    expect(await browser.signInByPasskey(authenticator, { counter: 0 })).toMatchObject(REFUSED);
    expect((await browser.signInByPasskey(authenticator, { counter: 8 })).status).toBe(200);
  });

  test('of an authenticator that does not count succeeds each time', async () => {
    const { browser } = await signedIn('viewer');
    const authenticator = await browser.enrol();
    for (let use = 0; use < 3; use++) {
      expect((await browser.signInByPasskey(authenticator, { counter: 0 })).status).toBe(200);
    }
  });

  test('with the signature of another passkey, or a changed one, is refused', async () => {
    const { browser } = await signedIn('viewer');
    const mine = await browser.enrol('mine');
    const others = await (await signedIn('admin')).browser.enrol('theirs');
    const options = await browser.post('/console/auth/passkey/options');
    const signed = (await mine.get(options.body)) as { id: string; response: { signature: string } };
    const verify = (credential: object) => new Browser().post('/console/auth/passkey/verify', { credential });
    expect(await verify({ ...signed, id: others.id })).toMatchObject(REFUSED);
    for (const signature of ['', 'AAAA', 'MAYCAQACAQA', 'A'.repeat(96)]) {
      expect(await verify({ ...signed, response: { ...signed.response, signature } })).toMatchObject(REFUSED);
    }
    // A refused attempt of somebody else does not use the challenge up.
    expect((await verify(signed)).status).toBe(200);
  });
});
