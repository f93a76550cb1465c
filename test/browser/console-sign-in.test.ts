/** Sign-in to the console in Chromium with a virtual authenticator: link, passkey, sign-out, and in again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { runInStack } from '../../src/cli/control.ts';
import { StateDir } from '../../src/cli/state.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { launchChromium } from '../support/chromium.ts';
import { manage, useStack } from '../support/stack.ts';
import { addDevice } from '../support/virtual-authenticator.ts';

const stack = useStack();
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** A command of the operator, and what it prints. */
async function command(...words: string[]): Promise<string> {
  const control = new StateDir(stack().stateDir).control();
  if (control === null) throw new Error('The stack does not run');
  const { exitCode, output } = await runInStack(control, words);
  if (exitCode !== 0) throw new Error(output);
  return output;
}

/** What `npm run gatehouse -- signin` prints. */
async function newLink(email = stack().ownerEmail): Promise<string> {
  return (JSON.parse(await command('signin', '--email', email)) as { url: string }).url;
}

interface Visit {
  context: BrowserContext;
  page: Page;
  /** Reports of the content security policy, and errors of the page. */
  faults: string[];
}

async function visit(): Promise<Visit> {
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // A refused call is an error of the network, not of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await addDevice(page);
  return { context, page, faults };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describe('the console', () => {
  test('is entered with the link that the stack printed, then with a passkey, and left for good', async () => {
    const { context, page, faults } = await visit();
    await page.goto(stack().signInUrl);
    await heading(page, 'Overview');
    expect(page.url()).toBe(stack().consoleUrl);
    const cookies = await context.cookies();
    expect(cookies).toEqual([expect.objectContaining({ name: 'gatehouse', httpOnly: true, sameSite: 'Strict' })]);

    await page.goto(`${stack().consoleUrl}/security`);
    await button(page, 'Add a passkey').click();
    await page.getByLabel('Name').fill('work laptop');
    await button(page, 'Add').click();
    await page.getByRole('cell', { name: 'work laptop', exact: true }).waitFor();
    expect(await page.getByRole('cell', { name: 'one-time link' }).count()).toBe(1);

    await button(page, 'Sign out').click();
    await page.getByText('You are signed out.').waitFor();
    await page.goto(stack().consoleUrl);
    await heading(page, 'Sign in to Gatehouse');
    await button(page, 'Sign in with a passkey').click();
    await heading(page, 'Overview');

    await page.goto(`${stack().consoleUrl}/security`);
    await page.getByRole('cell', { name: 'passkey', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove work laptop' }).click();
    await button(page, 'Remove').click();
    await page.getByText('This is the last passkey').waitFor();

    await button(page, 'Sign out everywhere').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByText('You are signed out.').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('refuses a link that was used before, and says how to get another', async () => {
    const { context, page } = await visit();
    const link = await newLink();
    await page.goto(link);
    await heading(page, 'Overview');
    await page.goto(link);
    await page.getByRole('alert').getByText('npm run gatehouse -- signin').waitFor();
    await page.getByText(`You are still signed in as ${stack().ownerEmail}.`).waitFor();
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await heading(page, 'Overview');
    const second = await visit();
    await second.page.goto(link);
    await second.page.getByRole('alert').getByText('npm run gatehouse -- signin').waitFor();
    expect(second.page.url()).not.toContain('link=');
    await Promise.all([context.close(), second.context.close()]);
  });

  test('opened at 127.0.0.1 goes to localhost, where a passkey works, with its link', async () => {
    const { context, page } = await visit();
    await page.goto((await newLink()).replace('localhost', '127.0.0.1'));
    await heading(page, 'Overview');
    expect(page.url()).toBe(stack().consoleUrl);
    await context.close();
  });

  test('ends the session of another browser from the list', async () => {
    const one = await visit();
    const other = await visit();
    await one.page.goto(await newLink());
    await heading(one.page, 'Overview');
    await other.page.goto(await newLink());
    await heading(other.page, 'Overview');
    await one.page.goto(`${stack().consoleUrl}/security`);
    const ends = button(one.page, 'End');
    await ends.first().waitFor();
    for (let left = await ends.count(); left > 0; left--) {
      await ends.first().click();
      await expect.poll(() => ends.count()).toBe(left - 1);
    }
    await other.page.goto(`${stack().consoleUrl}/verdicts`);
    await heading(other.page, 'Sign in to Gatehouse');
    await Promise.all([one.context.close(), other.context.close()]);
  });

  test('asks before a link signs in somebody else, and stays as it is on a no', async () => {
    const email = 'insider@example.com';
    await manage(stack(), '/users/create', { email, name: 'Insider', role: 'admin' });
    const { context, page, faults } = await visit();
    await page.goto(await newLink());
    await heading(page, 'Overview');
    const before = await context.cookies();
    const insiders = await newLink(email);

    await page.goto(insiders);
    await heading(page, 'Sign in as somebody else?');
    await page.getByText(`You are signed in as ${stack().ownerEmail}. Sign in as ${email}?`).waitFor();
    expect(page.url()).not.toContain('link=');
    expect(await accessibilityFaults(page)).toEqual([]);
    await button(page, `Stay signed in as ${stack().ownerEmail}`).click();
    await heading(page, 'Overview');
    expect(await context.cookies()).toEqual(before);

    await page.goto(insiders);
    await button(page, `Sign in as ${email}`).click();
    await heading(page, 'Overview');
    await page.goto(`${stack().consoleUrl}/security`);
    await page.getByText(email, { exact: true }).first().waitFor();

    // For the same person there is nothing to ask.
    await page.goto(await newLink(email));
    await heading(page, 'Overview');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('lets a member of a disabled account go to another one, and sign out', async () => {
    const email = 'stranded@example.com';
    await manage(stack(), '/users/create', { email, name: 'Stranded', role: 'viewer' });
    const { id } = JSON.parse(await command('account', 'create', '--email', email)) as { id: string };
    const { context, page } = await visit();
    await page.goto(await newLink(email));
    await button(page, `${email} (owner)`).click();
    await heading(page, 'Overview');
    await command('account', 'disable', id);
    await page.goto(stack().consoleUrl);
    await heading(page, 'The account is disabled');
    expect(await accessibilityFaults(page)).toEqual([]);
    await button(page, `${stack().ownerEmail} (viewer)`).click();
    await heading(page, 'Overview');

    await command('account', 'enable', id);
    await page.goto(`${stack().consoleUrl}/security`);
    await button(page, `${email} (owner)`).click();
    await heading(page, 'Overview');
    await command('account', 'disable', id);
    await page.goto(stack().consoleUrl);
    await button(page, 'Sign out').click();
    await page.getByText('You are signed out.').waitFor();
    await context.close();
  });

  test('takes the buttons away from somebody whose role is smaller now, after a write that was refused', async () => {
    const email = 'demoted@example.com';
    await manage(stack(), '/users/create', { email, name: 'Demoted', role: 'admin' });
    const demoted = await visit();
    await demoted.page.goto(await newLink(email));
    await heading(demoted.page, 'Overview');
    await demoted.page.goto(`${stack().consoleUrl}/users`);
    await button(demoted.page, 'Add a user').click();
    await demoted.page.getByRole('dialog').getByLabel('Name').fill('New');
    await demoted.page.getByRole('dialog').getByLabel('Email').fill('new@example.com');

    const owner = await visit();
    await owner.page.goto(await newLink());
    await heading(owner.page, 'Overview');
    await owner.page.goto(`${stack().consoleUrl}/users`);
    await owner.page.getByLabel(`Role of ${email}`).selectOption('analyst');
    await owner.page.getByText(`${email} is analyst now.`).waitFor();

    await demoted.page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await demoted.page.getByText('Your role does not have the permission createUser').waitFor();
    await button(demoted.page, 'Add a user').waitFor({ state: 'detached' });
    expect(await demoted.page.getByRole('link', { name: 'API keys', exact: true }).count()).toBe(0);
    expect(await demoted.page.getByRole('link', { name: 'Users', exact: true }).count()).toBe(1);
    await owner.page.reload();
    await owner.page.getByRole('table', { name: 'Users' }).waitFor();
    expect(await owner.page.getByText('new@example.com').count()).toBe(0);
    await Promise.all([demoted.context.close(), owner.context.close()]);
  });

  test('is closed to a stolen cookie from the next call on, when its owner signs out everywhere', async () => {
    const owner = await visit();
    await owner.page.goto(await newLink());
    await heading(owner.page, 'Overview');
    const thief = await visit();
    await thief.context.addCookies(await owner.context.cookies());
    await thief.page.goto(`${stack().consoleUrl}/sites`);
    await heading(thief.page, 'Sites');

    await owner.page.goto(`${stack().consoleUrl}/security`);
    await button(owner.page, 'Sign out everywhere').click();
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await owner.page.getByText('You are signed out.').waitFor();
    const status = await thief.page.evaluate(async () => {
      const json = { 'content-type': 'application/json' };
      return (await fetch('/sites/get', { method: 'POST', headers: json, body: '{}' })).status;
    });
    expect(status).toBe(401);
    await thief.page.getByRole('link', { name: 'Requests', exact: true }).click();
    await heading(thief.page, 'Sign in to Gatehouse');
    await thief.page.getByText('Your session has ended.').waitFor();
    await Promise.all([owner.context.close(), thief.context.close()]);
  });

  test('begins afresh in every tab when another tab goes to another account', async () => {
    const email = 'both@example.com';
    await manage(stack(), '/users/create', { email, name: 'Both', role: 'admin' });
    await command('account', 'create', '--email', email);
    const { context, page } = await visit();
    await page.goto(await newLink(email));
    await page.getByRole('button', { name: stack().ownerEmail }).click();
    await heading(page, 'Overview');
    await page.goto(`${stack().consoleUrl}/users`);
    await heading(page, 'Users');

    const second = await context.newPage();
    await second.goto(`${stack().consoleUrl}/security`);
    await second.getByRole('button', { name: email }).click();
    await expect.poll(() => page.url()).toBe(stack().consoleUrl);
    await context.close();
  });

  test('has no page for signing in that axe finds fault with', async () => {
    const { context, page } = await visit();
    await page.goto(stack().consoleUrl);
    await button(page, 'Sign in with a passkey').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto(await newLink());
    await heading(page, 'Overview');
    await page.goto(`${stack().consoleUrl}/security`);
    await page.getByRole('table', { name: 'Sessions' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await context.close();
  });
});
