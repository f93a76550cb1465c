/** The demo shop in Chromium: readable in both themes and on a small phone, under its own strict CSP. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoOrigin, startDemoOrigin } from '../../src/cli/demo/origin.ts';
import { faultsInBothThemes } from '../support/axe.ts';
import { freePortBase } from '../support/ports.ts';
import { expectRows } from '../support/rows.ts';
import { useVisitor } from '../support/visitor.ts';

const PHONE = { width: 360, height: 740 };
const visitor = useVisitor({
  // Without a gate there is no widget script, and a wrong password is a 401.
  expected: (message) => /status of 40[14]/.test(message.text()) || message.text().includes('/__protect/'),
  isSilent: true,
});

let origin: DemoOrigin;
beforeAll(async () => {
  const port = await freePortBase();
  // It stands in front of itself, so that every page has its content.
  const gate = { url: `http://127.0.0.1:${port}`, consoleUrl: 'http://localhost/console', stateFlag: '' };
  origin = await startDemoOrigin(port, gate);
});
afterAll(() => origin.close());

const pages = ['/', '/search?q=lamp', '/products/oak-stool', '/contact', '/login', '/bots', '/widget', '/none'];

test('every page has no fault of axe in light and dark, and fits on a small phone', async () => {
  await visitor.comesAs({ viewport: PHONE });
  await expectRows(pages, async (path) => {
    await visitor.page.goto(`${origin.url}${path}`);
    expect(await faultsInBothThemes(visitor.page)).toEqual([]);
    expect(await visitor.page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  });
});

test('a visitor fills the cart, sees it without a fault of axe, and orders', async () => {
  await visitor.page.goto(`${origin.url}/products/oak-stool`);
  await visitor.page.getByRole('button', { name: 'Put it in the cart' }).click();
  await visitor.page.getByRole('heading', { name: 'Check out' }).waitFor();
  expect(await faultsInBothThemes(visitor.page)).toEqual([]);
  await visitor.page.getByLabel('Name').fill('Ada <b>Lovelace</b>');
  await visitor.page.getByLabel('Address').fill('1 Row');
  await visitor.page.getByRole('button', { name: 'Order' }).click();
  await visitor.page.getByText('Thank you, Ada <b>Lovelace</b>.').waitFor();
  await visitor.page.getByRole('link', { name: 'Cart (0)' }).waitFor();
});

test('a visitor logs in after a wrong password, and out again', async () => {
  await visitor.page.goto(`${origin.url}/login`);
  const logIn = async (password: string): Promise<void> => {
    await visitor.page.getByLabel('Email').fill('ada@example.com');
    await visitor.page.getByLabel('Password').fill(password);
    await visitor.page.getByRole('button', { name: 'Log in' }).click();
  };
  await logIn('wrong');
  await visitor.page.getByRole('alert').waitFor();
  await logIn('lantern');
  await visitor.page.getByText('You are logged in as').waitFor();
  await visitor.page.getByRole('button', { name: 'Log out' }).click();
  await visitor.page.getByRole('link', { name: 'Log in' }).waitFor();
});

test('the bot’s-eye view copies its command', async () => {
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await visitor.page.goto(`${origin.url}/bots`);
  await visitor.page.getByRole('button', { name: 'Send as flood' }).click();
  await visitor.page.getByRole('button', { name: 'Copy the command' }).waitFor();
  expect(await faultsInBothThemes(visitor.page)).toEqual([]);
  await visitor.page.getByRole('button', { name: 'Copy the command' }).click();
  await visitor.page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await visitor.page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^for i in \$\(seq 40\); do curl .* 'http:\/\/127\.0\.0\.1:\d+\/api\/products'; done$/);
});
