/**
 * The challenge page in a real Chromium under its own CSP: solving, going on, and not going round in
 * circles.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { puzzleAnswer } from './visual-tasks.ts';
import { startWidgetServer, type WidgetServer } from './widget-server.ts';

let browser: Browser;
let server: WidgetServer;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [browser, server] = await Promise.all([launchChromium(), startWidgetServer()]);
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
  server.kind = 'pow';
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

  test('that took too long says that, not that it failed', async () => {
    const late = { status: 200, body: { verified: false, reason: 'API.TIMESTAMP_TOO_OLD' } };
    server.overrides.push((path) => (path === 'solution' ? late : null));
    await page.goto(`${server.url}/protected`);
    await page.getByText('The check took too long.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForFunction(() => document.title === 'inside');
  });

  test('tells a network that is gone from a refusal', async () => {
    await context.route('**/__protect/challenge', (route) => route.abort());
    await page.goto(`${server.url}/protected`);
    await page.getByText('The check could not be reached.').waitFor({ timeout: 10_000 });
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
    server.interstitial = { replay: { url: '/__protect/replay', seal: 'sealed-form', waitSeconds: null } };
    await page.goto(`${server.url}/protected`);
    await page.waitForFunction(() => document.title === 'received');
    expect(server.submitted.map((sent) => sent.get('seal'))).toEqual(['sealed-form']);
    expect(complaints).toEqual([]);
  });
});

describe('every visitor', () => {
  test('without scripts finds a way on: a link, and a page that opens by itself', async () => {
    await context.close();
    await use(await browser.newContext({ javaScriptEnabled: false }));
    server.interstitial = { noScript: { url: '/no-script', waitSeconds: 1 } };
    server.pages.set('/no-script', { body: '<title>let through</title>' });
    await page.goto(`${server.url}/protected`);
    await page.getByRole('link', { name: 'Continue without scripts' }).waitFor();
    await page.waitForURL('**/no-script', { timeout: 5000 });
    expect(server.calls).toEqual([]);
  });

  test('whose cookies are off is told so and asked for nothing', async () => {
    await context.addInitScript(() => {
      Object.defineProperty(Navigator.prototype, 'cookieEnabled', { get: () => false });
    });
    await page.goto(`${server.url}/protected`);
    await page.getByText('Allow cookies for this site, then try again.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForTimeout(300);
    expect(server.calls).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'reads Arabic from right to left on a screen of 360 pixels, %s',
    async (colorScheme) => {
      await context.close();
      await use(
        await browser.newContext({
          locale: 'ar-EG',
          viewport: { width: 360, height: 640 },
          colorScheme,
          reducedMotion: 'reduce',
        }),
      );
      server.overrides.push(() => ({ status: 400, body: {} }));
      await page.goto(`${server.url}/protected`);
      await page.getByRole('button', { name: 'حاول مجددًا' }).waitFor();
      const seen = await page.evaluate(() => ({
        direction: getComputedStyle(document.body).direction,
        language: document.documentElement.lang,
        width: document.documentElement.scrollWidth,
        title: document.title,
      }));
      expect(seen).toEqual({ direction: 'rtl', language: 'ar', width: 360, title: 'لحظة من فضلك' });
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.title === 'inside');
    },
  );

  test('hears one heading, a status and the button, by name', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    await page.goto(`${server.url}/protected`);
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    const tree = await page.locator('body').ariaSnapshot();
    expect(tree).toContain('- main:');
    expect(tree).toContain('heading "One moment, please" [level=1]');
    expect(tree).toContain('status: The check did not succeed.');
    expect(tree).toContain('button "Try again"');
    expect(tree).not.toContain('progressbar');
  });

  test('in two tabs passes in both', async () => {
    const second = await context.newPage();
    await Promise.all([page.goto(`${server.url}/protected/1`), second.goto(`${server.url}/protected/2`)]);
    await Promise.all([page, second].map((tab) => tab.waitForFunction(() => document.title === 'inside')));
    expect(new URL(second.url()).pathname).toBe('/protected/2');
  });
});

describe('a picture task on the challenge page', () => {
  test('is solved by keyboard and lets the visitor in, with no CSP violation', async () => {
    server.kind = 'puzzle';
    await page.goto(`${server.url}/protected`);
    const piece = page.getByRole('application', { name: 'Piece' });
    await piece.waitFor();
    const top = await piece.evaluate((node) => (Number.parseFloat((node as HTMLElement).style.top) * 220) / 100);
    await page.keyboard.press('Tab');
    await press('ArrowRight', puzzleAnswer.x);
    await press(top < puzzleAnswer.y ? 'ArrowDown' : 'ArrowUp', Math.abs(puzzleAnswer.y - top));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.title === 'inside');
    expect(complaints).toEqual([]);
  });

  async function press(key: string, pixels: number): Promise<void> {
    for (let steps = Math.round(pixels / 2); steps > 0; steps -= steps >= 10 ? 10 : 1)
      await page.keyboard.press(steps >= 10 ? `Shift+${key}` : key);
  }
});

describe('branding', () => {
  test('colours stay readable: the text on a light button turns dark', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    server.interstitial = {
      branding: { name: 'Shop', primaryColor: '#ffee00', backgroundColor: '#102030', title: 'Hi <b>' },
    };
    await page.goto(`${server.url}/protected`);
    await page.getByRole('heading', { name: 'Hi <b>' }).waitFor();
    const button = page.getByRole('button');
    await button.waitFor();
    expect(await button.evaluate((node) => getComputedStyle(node).color)).toBe('rgb(0, 0, 0)');
    expect(await page.locator('main').evaluate((node) => getComputedStyle(node).color)).toBe('rgb(255, 255, 255)');
  });
});
