/**
 * The challenge page in a real Chromium under its own CSP: solving, going on, and not going round in
 * circles.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { startWidgetServer, type WidgetServer } from './widget-server.ts';

let browser: Browser;
let server: WidgetServer;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [browser, server] = await Promise.all([launchChromium(), startWidgetServer(23002)]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});
beforeEach(async () => {
  server.calls.length = 0;
  server.submitted.length = 0;
  server.overrides.length = 0;
  server.interstitial = {};
  server.clears = true;
  await use(await browser.newContext());
});
afterEach(async () => {
  await context.close();
});

async function use(next: BrowserContext): Promise<void> {
  context = next;
  page = await context.newPage();
  complaints = [];
  page.on('console', (message) => {
    const expected = /status of 403/.test(message.text());
    if (!expected && (message.type() === 'error' || message.type() === 'warning')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
}

describe('a challenged navigation', () => {
  test('is solved without a touch and lands on the page asked for, query and fragment kept', async () => {
    await page.goto(`${server.url}/protected/a?b=1&c=%2F#part`);
    await page.waitForFunction(() => document.title === 'inside');
    expect(page.url()).toBe(`${server.url}/protected/a?b=1&c=%2F#part`);
    expect(server.calls.map((call) => call.path)).toEqual(['challenge', 'solution', 'verify']);
    expect(server.calls[0]?.body).toMatchObject({ siteKey: 'site-1', action: 'clearance' });
    expect(complaints).toEqual([]);
  });

  test('shows the reference a visitor can quote', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    await page.goto(`${server.url}/protected`);
    await page.getByText('Reference: request-1').waitFor();
  });

  test('that fails says so and offers another try, which works', async () => {
    server.overrides.push((path) => (path === 'verify' ? { status: 200, body: { verified: false } } : null));
    await page.goto(`${server.url}/protected`);
    const retry = page.getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    expect(await page.getByRole('status').textContent()).toBe('The check did not succeed.');
    expect(await retry.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.title === 'inside');
  });

  test('stops after three passes where the pass is not kept, instead of going round', async () => {
    server.clears = false;
    await page.goto(`${server.url}/protected`);
    await page.getByText('Cookies are switched off').waitFor();
    expect(server.calls.filter((call) => call.path === 'verify')).toHaveLength(3);
    await page.getByRole('button', { name: 'Try again' }).waitFor();
  });
});

describe('a challenged submission', () => {
  test('is sent on once after solving, and not again on the way back', async () => {
    server.interstitial = { replay: { url: '/__protect/replay', seal: 'sealed-form' } };
    await page.goto(`${server.url}/protected`);
    await page.waitForFunction(() => document.title === 'received');
    expect(server.submitted.map((sent) => sent.get('seal'))).toEqual(['sealed-form']);
    expect(complaints).toEqual([]);
  });
});
