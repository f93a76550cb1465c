// A stack of its own: its service signs in through the issuer of this file.
/** Sign-in to the console through an issuer and behind Access, and with a session that has grown old, in Chromium. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { BrowserContext, Page } from 'playwright-core';
import type { Stack } from '../../src/cli/stack.ts';
import { signInLink } from '../support/console.ts';
import { type FakeIssuer, startFakeIssuer } from '../support/fake-issuer.ts';
import { expectRows } from '../support/rows.ts';
import { manage, rulesLoaded, startTestStack } from '../support/stack.ts';
import { sharedChromium } from '../support/visitor.ts';
import { addDevice } from '../support/virtual-authenticator.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
const SIXTEEN_MINUTES_MS = 16 * 60_000;
let issuer: FakeIssuer;
let stack: Stack;

const start = async (portBase?: number): Promise<void> => {
  stack = await startTestStack({
    stateDir,
    ...(portBase === undefined ? {} : { portBase }),
    serviceVars: {
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuer.clientId,
      OIDC_CLIENT_SECRET: issuer.clientSecret,
      ACCESS_TEAM_DOMAIN: issuer.url,
      ACCESS_AUD: 'application',
    },
  });
  await rulesLoaded(stack);
};

beforeAll(async () => {
  cpSync(inject('preparedState'), stateDir, { recursive: true });
  issuer = await startFakeIssuer();
  // The issuer's own page: somebody is signed in there, and it leads back at once.
  issuer.answersAt('/authorize', (request, response) => {
    const back = issuer.approve(new URL(request.url ?? '', issuer.url).href);
    response.writeHead(303, { location: back.href }).end();
  });
  await start();
});
afterAll(async () => {
  await stack.stop();
  await issuer.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function visit(headers: Record<string, string> = {}): Promise<{ context: BrowserContext; page: Page }> {
  const context = await (await sharedChromium()).newContext({ locale: 'en-GB', extraHTTPHeaders: headers });
  return { context, page: await context.newPage() };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const signedInAs = async (page: Page, email: string): Promise<void> => {
  await page.goto(`${stack.consoleUrl}/security`);
  await page.getByText(email, { exact: true }).first().waitFor();
};

describe('an issuer of OpenID Connect', () => {
  test('signs in by its button, and the address keeps nothing of it', async () => {
    issuer.says({ email: stack.ownerEmail, email_verified: true });
    const { context, page } = await visit();
    await page.goto(stack.consoleUrl);
    await button(page, 'Sign in with your organisation').click();
    await heading(page, 'Overview');
    expect(page.url()).toBe(stack.consoleUrl);
    await signedInAs(page, stack.ownerEmail);
    await page.getByRole('cell', { name: 'OpenID Connect' }).waitFor();
    expect((await context.cookies()).map(({ name }) => name)).toEqual(['gatehouse']);
    await context.close();
  });

  test('that names a stranger leads to a sentence', async () => {
    issuer.says({ email: 'stranger@example.com', email_verified: true });
    const { context, page } = await visit();
    await page.goto(stack.consoleUrl);
    await button(page, 'Sign in with your organisation').click();
    await page.getByRole('alert').getByText('No account has a team member with this address').waitFor();
    await context.close();
  });

  test('that does not answer as one leads to a sentence', async () => {
    issuer.answersAt('/.well-known/openid-configuration', (_, response) => response.writeHead(500).end());
    const { context, page } = await visit();
    await page.goto(stack.consoleUrl);
    await button(page, 'Sign in with your organisation').click();
    await page.getByRole('alert').getByText('is not the issuer that OIDC_ISSUER names').waitFor();
    issuer.answersAt('/.well-known/openid-configuration', null);
    await context.close();
  });

  test('asks first in a browser where somebody else has signed in meanwhile', async () => {
    const email = 'meanwhile@example.com';
    await manage(stack, '/users/create', { email, name: 'Meanwhile', role: 'viewer' });
    issuer.says({ email, email_verified: true });
    const { context, page } = await visit();
    await page.goto(stack.consoleUrl);
    await button(page, 'Sign in with your organisation').waitFor();
    const other = await context.newPage();
    await other.goto(await signInLink(stack, stack.ownerEmail));
    await heading(other, 'Overview');
    await button(page, 'Sign in with your organisation').click();
    await heading(page, 'Sign in as somebody else?');
    await button(page, `Stay signed in as ${stack.ownerEmail}`).click();
    await signedInAs(page, stack.ownerEmail);
    await context.close();
  });

  test('and an address that makes up a refusal get the general sentence', () =>
    expectRows(['constructor', '__proto__', 'toString', 'CONSOLE.UNKNOWN'], async (key) => {
      const { context, page } = await visit();
      await page.goto(`${stack.consoleUrl}#refused=${key}`);
      await page.getByRole('alert').getByText('The identity provider did not confirm the sign-in.').waitFor();
      await context.close();
    }));
});

describe('Cloudflare Access in front of the console', () => {
  test('signs in without a click, and after a sign-out by its button', async () => {
    const { context, page } = await visit({ 'cf-access-jwt-assertion': await issuer.accessJwt() });
    await page.goto(stack.consoleUrl);
    await heading(page, 'Overview');
    await page.goto(`${stack.consoleUrl}/security`);
    await page.getByRole('cell', { name: 'Cloudflare Access' }).first().waitFor();
    await button(page, 'Sign out').click();
    await page.getByText('You are signed out.').waitFor();
    await button(page, 'Sign in with Access').click();
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
    await context.close();
  });

  test('that let nobody through leads to a sentence, and the other ways stay', async () => {
    const { context, page } = await visit();
    await page.goto(stack.consoleUrl);
    await page.getByRole('alert').getByText('Cloudflare Access did not let this request through').waitFor();
    expect(await button(page, 'Sign in with a passkey').count()).toBe(1);
    await context.close();
  });
});

describe('a page of another origin in the browser of somebody who is signed in', () => {
  /** `localhost` at another port is the same site: the browser sends the cookie along. `127.0.0.1` is another one. */
  test.each(['localhost', '127.0.0.1'])('at %s changes nothing, reads nothing, and frames nothing', async (host) => {
    const { origin } = new URL(stack.consoleUrl);
    const link = new URL(await signInLink(stack, stack.ownerEmail)).hash.replace('#link=', '');
    const hostile = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>hostile</title><body></body>');
    });
    await new Promise<void>((done) => hostile.listen(0, host, done));
    const { context, page } = await visit();
    await page.goto(await signInLink(stack, stack.ownerEmail));
    await heading(page, 'Overview');
    const before = await context.cookies();
    await page.goto(`http://${host}:${(hostile.address() as AddressInfo).port}`);
    const read = await page.evaluate(
      async ({ target, token }) => {
        const calls = [
          ['/users/create', { email: `csrf@example.com`, name: 'CSRF', role: 'admin' }],
          ['/console/auth/sign-out-everywhere', {}],
          ['/console/auth/link', { token }],
          ['/sites/get', {}],
        ] as const;
        const answers: string[] = [];
        for (const [path, body] of calls) {
          for (const mode of ['cors', 'no-cors'] as const) {
            for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
              answers.push(
                await fetch(target + path, {
                  method: 'POST',
                  mode,
                  credentials: 'include',
                  headers: { 'content-type': type },
                  body: JSON.stringify(body),
                }).then(
                  async (response) => `${response.status} ${await response.text()}`,
                  () => 'refused',
                ),
              );
            }
          }
        }
        const form = document.createElement('form');
        Object.assign(form, { method: 'POST', action: `${target}/console/auth/link`, target: 'posted' });
        form.append(Object.assign(document.createElement('input'), { name: 'token', value: token }));
        const frames = ['posted', 'framed'].map((name) => Object.assign(document.createElement('iframe'), { name }));
        document.body.append(form, ...frames);
        const loaded = frames.map((frame) => new Promise((done) => frame.addEventListener('load', done)));
        form.submit();
        frames[1]!.src = `${target}/console`;
        await Promise.all(loaded);
        return answers;
      },
      { target: origin, token: link },
    );
    // An opaque response says nothing; anything else would have been read.
    expect(new Set(read)).toEqual(new Set(['refused', '0 ']));
    expect(await page.frame('posted')!.locator('h1').count()).toBe(0);
    // Chromium puts an error page of its own in place of a page that may not be framed.
    expect(page.frame('framed')!.url()).toBe('chrome-error://chromewebdata/');
    expect(await context.cookies()).toEqual(before);
    await page.goto(`${stack.consoleUrl}/users`);
    await page.getByRole('table', { name: 'Users' }).waitFor();
    expect(await page.getByText('csrf@example.com').count()).toBe(0);
    // The link is not spent.
    await page.goto(`${stack.consoleUrl}#link=${link}`);
    await heading(page, 'Overview');
    expect((await context.cookies())[0]?.value).not.toBe(before[0]?.value);
    await context.close();
    await new Promise((done) => hostile.close(done));
  });
});

test('a session older than 15 minutes changes passkeys after another touch of one', async () => {
  const { context, page } = await visit();
  const laptop = await addDevice(page);
  await page.goto(await signInLink(stack, stack.ownerEmail));
  await heading(page, 'Overview');
  await page.goto(`${stack.consoleUrl}/security`);
  await button(page, 'Add a passkey').click();
  await page.getByLabel('Name', { exact: true }).fill('work laptop');
  await button(page, 'Add').click();
  await page.getByRole('cell', { name: 'work laptop', exact: true }).waitFor();

  // The clock of a Worker cannot be set, so the time of the sign-in is.
  const portBase = Number(new URL(stack.edgeUrl).port);
  await stack.stop();
  const folder = join(stateDir, 'service', 'd1', 'miniflare-D1DatabaseObject');
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.sqlite') && !name.startsWith('metadata'));
  const database = new DatabaseSync(join(folder, file));
  database.exec(`UPDATE console_sessions SET signed_in_at = signed_in_at - ${SIXTEEN_MINUTES_MS}`);
  database.close();
  await start(portBase);

  await page.reload();
  await button(page, 'Rename work laptop').waitFor();
  await button(page, 'Add a passkey').click();
  await page.getByLabel('Name', { exact: true }).fill('phone');
  await button(page, 'Add').click();
  await page.getByRole('alert').getByText('Passkeys can be changed within 15 minutes after sign-in').waitFor();
  expect(await page.getByRole('cell', { name: 'phone', exact: true }).count()).toBe(0);
  const former = await context.cookies();
  await button(page, 'Sign in again with a passkey').click();
  await page.getByText('You have signed in again.').waitFor();
  expect(await context.cookies()).not.toEqual(former);

  // A device has one passkey of a person, so the second one is on another device.
  await laptop.unplug();
  await addDevice(page, 'usb');
  await button(page, 'Add a passkey').click();
  await page.getByLabel('Name', { exact: true }).fill('phone');
  await button(page, 'Add').click();
  await page.getByRole('cell', { name: 'phone', exact: true }).waitFor();
  await context.close();
});
