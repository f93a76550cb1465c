// A stack of its own: its service signs in through the issuer of this file.
/** Sign-in to the console with OpenID Connect and behind Cloudflare Access, over HTTP, against an issuer that lies. */
import { generateKeyPair } from 'jose';
import { gzipSync } from 'node:zlib';
import type { RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runInStack } from '../../src/cli/control.ts';
import { StateDir } from '../../src/cli/state.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { type FakeIssuer, type IdTokenLies, startFakeIssuer } from '../support/fake-issuer.ts';
import { expectRows } from '../support/rows.ts';
import { manage, startTestStack } from '../support/stack.ts';

const SIGNALS_SECRET = 'a-secret-of-the-proxy';
let issuer: FakeIssuer;
let stack: Stack;

beforeAll(async () => {
  issuer = await startFakeIssuer();
  stack = await startTestStack({
    serviceVars: {
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuer.clientId,
      OIDC_CLIENT_SECRET: issuer.clientSecret,
      ACCESS_TEAM_DOMAIN: issuer.url,
      ACCESS_AUD: 'application',
      // Each browser of this file has its own address, so that none uses up the attempts of another.
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET,
    },
  });
  proved = `${stack.consoleUrl}#from=issuer`;
});
afterAll(async () => {
  await stack.stop();
  await issuer.close();
});

/** A command of the operator. */
async function command(...words: string[]): Promise<void> {
  const control = new StateDir(stack.stateDir).control();
  if (control === null) throw new Error('The stack does not run');
  const { exitCode, output } = await runInStack(control, words);
  if (exitCode !== 0) throw new Error(output);
}

class Browser extends ConsoleBrowser {
  constructor() {
    super(stack, SIGNALS_SECRET);
  }
}

const owner = { email: 'owner@example.com', email_verified: true };
const REFUSED = 'refused=CONSOLE.PROVIDER_REFUSED';
let proved: string;

async function signedInAs(claims: IdTokenLies): Promise<{ browser: Browser; location: string }> {
  issuer.says(claims);
  const browser = new Browser();
  const location = await browser.comeBack(issuer.approve(await browser.begin()));
  return { browser, location };
}

/** Where a provider is asked, and a sign-in that asks there. The keys of Access are not kept yet. */
const asks: [path: string, signIn: () => Promise<{ status: number; key: string; message: string }>][] = [
  [
    '/.well-known/openid-configuration',
    async () => {
      const { status, body } = await new Browser().call('POST', '/console/auth/oidc/start');
      return { status, ...body['error'] };
    },
  ],
  [
    '/token',
    async () => {
      const { browser, location } = await signedInAs(owner);
      expect(await browser.whoAmI()).toBeNull();
      return { status: 401, key: new URL(location).hash.replace('#refused=', ''), message: '' };
    },
  ],
  [
    '/cdn-cgi/access/certs',
    async () => {
      const jwt = await issuer.accessJwt();
      const { status, body } = await new Browser().call('POST', '/console/auth/access', {
        'cf-access-jwt-assertion': jwt,
      });
      return { status, ...body['error'] };
    },
  ],
];
const JSON_TYPE = { 'content-type': 'application/json' };
const chunk = Buffer.alloc(64 * 1024, ' ');

describe.each(asks)('what a provider answers at %s', (path, signIn) => {
  afterEach(() => issuer.answersAt(path, null));
  const refusedFor = async (answer: RequestListener, message: RegExp) => {
    issuer.answersAt(path, answer);
    const refusal = await signIn();
    expect(refusal).toMatchObject({ status: 401, key: 'CONSOLE.PROVIDER_REFUSED' });
    if (refusal.message !== '') expect(refusal.message).toMatch(message);
  };

  test('is refused when it has no end', async () => {
    await refusedFor((_, response) => {
      const more = () => {
        while (response.write(chunk));
        response.once('drain', more);
      };
      response.writeHead(200, JSON_TYPE);
      more();
    }, /sent more than 262144 bytes/);
  });

  test('is refused when it is larger than it says, also compressed', async () => {
    await refusedFor(
      (_, response) =>
        response
          .writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(8 * 1024 * 1024, ' '))),
      /sent more than 262144 bytes/,
    );
  });

  test('is refused when it leads elsewhere, and nobody is asked there', async () => {
    let asked = 0;
    issuer.answersAt('/elsewhere', (_, response) => {
      asked += 1;
      response.writeHead(200, JSON_TYPE).end('{}');
    });
    const location = issuer.url.replace('127.0.0.1', 'localhost');
    for (const status of [301, 302, 303, 307, 308]) {
      await refusedFor(
        (_, response) => response.writeHead(status, { location: `${location}/elsewhere` }).end(),
        /redirects to another address/,
      );
    }
    expect(asked).toBe(0);
  });

  test('is refused when it is an error or no object', () =>
    expectRows(
      [
        ['no JSON', 200, 'not json'],
        ['half of it', 200, '{"issuer":'],
        ['a list', 200, '[]'],
        ['nothing', 204, ''],
        ['null', 200, 'null'],
        ['an error', 500, '{}'],
        ['a page', 200, '<html>'],
      ],
      ([, status, body]) =>
        refusedFor((_, response) => response.writeHead(status, JSON_TYPE).end(body), /\(\w+\)|cannot be read/),
    ));
});

test('a provider that never ends its answer is refused after a time', async () => {
  const slow = asks.slice(1);
  for (const [path] of slow) {
    issuer.answersAt(path, (_, response) => response.writeHead(200, JSON_TYPE).write('{'));
  }
  const refusals = await Promise.all(slow.map(([, signIn]) => signIn()));
  for (const { status, key } of refusals) expect([status, key]).toEqual([401, 'CONSOLE.PROVIDER_REFUSED']);
  for (const [path] of slow) issuer.answersAt(path, null);
});

describe('OpenID Connect', () => {
  test('signs a team member in whose address the issuer has verified', async () => {
    const { browser, location } = await signedInAs({ ...owner, email: 'Owner@Example.com' });
    expect(location).toBe(proved);
    expect(await browser.whoAmI()).toBeNull();
    expect((await browser.finish()).body).toEqual({ signedIn: true, accountId: stack.accountId });
    expect(await browser.whoAmI()).toBe('owner@example.com');
    expect([...browser.cookies.keys()]).toEqual(['gatehouse']);
    const { body } = await browser.call('GET', '/console/auth/ways');
    expect(body).toEqual({ oidc: true, access: true });
  });

  test('asks for a code with PKCE, state and nonce, each new every time', async () => {
    const urls = await Promise.all([new Browser().begin(), new Browser().begin()]);
    const [first, second] = urls.map((url) => Object.fromEntries(new URL(url).searchParams));
    expect(first).toMatchObject({
      response_type: 'code',
      scope: 'openid email',
      code_challenge_method: 'S256',
      redirect_uri: `${stack.consoleUrl}/auth/oidc/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(first?.[name]).toMatch(/^[\w-]{43}$/);
      expect(first?.[name]).not.toBe(second?.[name]);
    }
  });

  test('refuses an ID token that does not prove a verified address here and now', () =>
    expectRows<[string, IdTokenLies, string]>(
      [
        ['an address that is not verified', { ...owner, email_verified: false }, REFUSED],
        ['an address that is verified as a text', { ...owner, email_verified: 'true' }, REFUSED],
        ['an address without a word on verification', { email: owner.email }, REFUSED],
        ['no address', { email_verified: true }, REFUSED],
        ['another audience', { ...owner, aud: 'another-client' }, REFUSED],
        ['another issuer', { ...owner, iss: 'https://evil.example' }, REFUSED],
        ['another nonce', { ...owner, nonce: 'A'.repeat(43) }, REFUSED],
        ['a token that has expired', { ...owner, exp: -300 }, REFUSED],
      ],
      async ([, claims, fragment]) => {
        const { browser, location } = await signedInAs(claims);
        expect(location).toBe(`${stack.consoleUrl}#${fragment}`);
        expect((await browser.finish()).body['error'].key).toBe('CONSOLE.SIGN_IN_LATE');
        expect(await browser.whoAmI()).toBeNull();
      },
    ));

  test('refuses somebody who is no member', async () => {
    const { browser } = await signedInAs({ ...owner, email: 'stranger@example.com' });
    expect(await browser.finish()).toMatchObject({ status: 403, body: { error: { key: 'CONSOLE.NOT_A_MEMBER' } } });
    expect(await browser.whoAmI()).toBeNull();
  });

  test('asks before it ends the session of somebody else, and uses nothing up with the question', async () => {
    const email = 'second@example.com';
    await manage(stack, '/users/create', { email, name: 'Second', role: 'viewer' });
    const { browser } = await signedInAs(owner);
    await browser.finish();
    issuer.says({ email, email_verified: true });
    await browser.comeBack(issuer.approve(await browser.begin()));
    const question = { signedIn: false, isSignedInAs: owner.email, signsInAs: email };
    expect((await browser.finish()).body).toEqual(question);
    expect((await browser.finish('somebody@example.com')).body).toEqual(question);
    expect(await browser.whoAmI()).toBe(owner.email);
    expect((await browser.finish(owner.email)).body['signedIn']).toBe(true);
    expect(await browser.whoAmI()).toBe(email);
    expect((await browser.finish(email)).body['error'].key).toBe('CONSOLE.SIGN_IN_LATE');
  });

  test('completes in the browser that came back only, by a page of the console', async () => {
    const { browser } = await signedInAs(owner);
    const other = new Browser();
    expect((await other.finish()).body['error'].key).toBe('CONSOLE.SIGN_IN_LATE');
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const answer = await browser.call('POST', '/console/auth/oidc/finish', foreign, {});
    expect([answer.status, answer.body['error'].key]).toEqual([403, 'CONSOLE.NOT_FROM_CONSOLE']);
    expect((await browser.finish()).status).toBe(200);
    expect((await browser.finish()).body['error'].key).toBe('CONSOLE.SIGN_IN_LATE');
  });

  test('sends nobody to an issuer whose endpoint is no plain address of https', () =>
    expectRows(
      [
        ['javascript:', 'javascript:alert(1)'],
        ['plain http on another host', 'http://id.example.com/authorize'],
        ['a name and a password', 'https://user:password@id.example.com/authorize'],
        ['no address', 'not an address'],
        ['a number', 7],
        ['none', undefined],
      ],
      async ([, endpoint]) => {
        const document = {
          issuer: issuer.url,
          authorization_endpoint: `${issuer.url}/authorize`,
          token_endpoint: `${issuer.url}/token`,
        };
        for (const name of ['authorization_endpoint', 'token_endpoint']) {
          issuer.answersAt('/.well-known/openid-configuration', (_, response) =>
            response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ...document, [name]: endpoint })),
          );
          const { status, body } = await new Browser().call('POST', '/console/auth/oidc/start');
          expect([status, body['error'].key]).toEqual([401, 'CONSOLE.PROVIDER_REFUSED']);
        }
        issuer.answersAt('/.well-known/openid-configuration', null);
      },
    ));

  test('refuses another state', async () => {
    issuer.says(owner);
    const browser = new Browser();
    const back = issuer.approve(await browser.begin());
    back.searchParams.set('state', 'A'.repeat(43));
    expect(await browser.comeBack(back)).toBe(`${stack.consoleUrl}#${REFUSED}`);
    expect(await browser.whoAmI()).toBeNull();
  });

  test('refuses the code of another browser, so that nobody is signed in as somebody else', async () => {
    issuer.says(owner);
    const attacker = new Browser();
    const back = issuer.approve(await attacker.begin());
    const victim = new Browser();
    expect(await victim.comeBack(back)).toBe(`${stack.consoleUrl}#refused=CONSOLE.SIGN_IN_LATE`);
    const begun = new Browser();
    await begun.begin();
    expect(await begun.comeBack(back)).toBe(`${stack.consoleUrl}#${REFUSED}`);
    expect(await victim.whoAmI()).toBeNull();
    expect(await begun.whoAmI()).toBeNull();
  });

  test('refuses a code without the verifier of its beginning', async () => {
    issuer.says(owner);
    const browser = new Browser();
    const own = await browser.begin();
    const others = new URL(await new Browser().begin());
    // A code that was injected: it carries our state and nonce, and the challenge of another verifier.
    for (const name of ['state', 'nonce']) others.searchParams.set(name, new URL(own).searchParams.get(name) ?? '');
    expect(await browser.comeBack(issuer.approve(others.href))).toBe(`${stack.consoleUrl}#${REFUSED}`);
    expect(issuer.refused).toContain('pkce');
  });

  test('refuses to come back twice', async () => {
    issuer.says(owner);
    const browser = new Browser();
    const back = issuer.approve(await browser.begin());
    const kept = new Map(browser.cookies);
    expect(await browser.comeBack(back)).toBe(proved);
    const again = new Browser();
    for (const [name, value] of kept) again.cookies.set(name, value);
    expect(await again.comeBack(back)).toBe(`${stack.consoleUrl}#refused=CONSOLE.SIGN_IN_LATE`);
  });

  test('answers a way back without one good code with a refusal, not an error', () =>
    expectRows(
      ['', '?error=access_denied', '?code=', '?code=x&code=y', `?code=${'x'.repeat(8000)}`],
      async (search) => {
        const browser = new Browser();
        await browser.begin();
        const back = new URL(`${stack.consoleUrl}/auth/oidc/callback${search}`);
        expect(await browser.comeBack(back)).toBe(`${stack.consoleUrl}#${REFUSED}`);
      },
    ));

  test('lets a member of several accounts choose', async () => {
    const email = 'both@example.com';
    await manage(stack, '/users/create', { email, name: 'Both', role: 'viewer' });
    await command('account', 'create', '--email', email);
    const { browser } = await signedInAs({ email, email_verified: true });
    const { body } = await browser.finish();
    const { ticket } = body;
    expect(await browser.whoAmI()).toBeNull();
    expect(body['accounts']).toEqual([
      { accountId: stack.accountId, ownerEmail: 'owner@example.com', role: 'viewer' },
      expect.objectContaining({ ownerEmail: email, role: 'owner' }),
    ]);
    const choice = { ticket, accountId: stack.accountId };
    expect((await browser.call('POST', '/console/auth/choose', {}, choice)).status).toBe(200);
    expect(await browser.whoAmI()).toBe(email);
  });
});

describe('Cloudflare Access', () => {
  const enter = async (jwt: string, browser = new Browser(), replaces?: string) => {
    const answer = await browser.call('POST', '/console/auth/access', { 'cf-access-jwt-assertion': jwt }, { replaces });
    return { ...answer, browser };
  };

  test('signs in whom it lets through, if they are a member', async () => {
    const { status, browser } = await enter(await issuer.accessJwt());
    expect(status).toBe(200);
    expect(await browser.whoAmI()).toBe('owner@example.com');
  });

  test('asks before it ends the session of somebody else', async () => {
    const email = 'third@example.com';
    await manage(stack, '/users/create', { email, name: 'Third', role: 'viewer' });
    const { browser } = await enter(await issuer.accessJwt());
    const other = await issuer.accessJwt({ email });
    const question = { signedIn: false, isSignedInAs: owner.email, signsInAs: email };
    expect((await enter(other, browser)).body).toEqual(question);
    expect(await browser.whoAmI()).toBe(owner.email);
    expect((await enter(other, browser, owner.email)).status).toBe(200);
    expect(await browser.whoAmI()).toBe(email);
  });

  test('refuses a JWT that does not prove the address of a member', () =>
    expectRows<[string, Record<string, unknown>, number, string]>(
      [
        ['another application', { aud: ['another'] }, 401, 'CONSOLE.PROVIDER_REFUSED'],
        ['another team', { iss: 'https://other.cloudflareaccess.com' }, 401, 'CONSOLE.PROVIDER_REFUSED'],
        ['a JWT that has expired', { exp: 1_700_000_000 }, 401, 'CONSOLE.PROVIDER_REFUSED'],
        ['a service token, which has no address', { email: undefined }, 401, 'CONSOLE.PROVIDER_REFUSED'],
        ['somebody who is no member', { email: 'stranger@example.com' }, 403, 'CONSOLE.NOT_A_MEMBER'],
        // The Kelvin sign, which is no k until it is normalised.
        ['a letter that would turn into a k', { email: 'fran\u212A@example.com' }, 401, 'CONSOLE.PROVIDER_REFUSED'],
      ],
      async ([, claims, status, key]) => {
        const answer = await enter(await issuer.accessJwt(claims));
        expect([answer.status, answer.body['error'].key]).toEqual([status, key]);
        expect(await answer.browser.whoAmI()).toBeNull();
      },
    ));

  test('refuses a JWT that somebody else has signed, an unsigned one, and none', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const good = await issuer.accessJwt();
    const [, payload = ''] = good.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const jwt of [await issuer.accessJwt({}, privateKey), `${none}.${payload}.`, 'x', '']) {
      expect((await enter(jwt)).status).toBe(401);
    }
  });
});
