/**
 * How the protect script earns a session in a real Chromium: off the main thread, once for all tabs, and without end in
 * none of the places where it could repeat itself.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { sessionRefusedTiming } from '../../src/contract/edge/headers.ts';
import { launchChromium } from '../support/chromium.ts';
import { expectRows } from '../support/rows.ts';
import { useVisitor } from '../support/visitor.ts';
import { STRICT_CSP, useWidgetServer } from './widget-server.ts';

const PAGE =
  '<!doctype html><html lang="en"><title>page</title><script src="/__protect/protect.js"></script><h1>page</h1>';

const server = useWidgetServer();
const visitor = useVisitor({
  expected: (message) => /worker-src|trusted-types|Failed to load resource/.test(message.text()),
});
beforeEach(() => {
  server.pages.clear();
  server.pages.set('/page', { body: PAGE });
});

const ready = (page: Page): Promise<boolean | undefined> => page.evaluate(() => window.gatehouseProtect?.ready);
const jtiOf = (page: Page): Promise<string | null | undefined> => page.evaluate(() => window.gatehouseProtect?.jti);
/** Solutions that pages sent, and calls without one. */
const solutions = (): number =>
  server.calls.filter(({ path, body }) => path === 'session' && 'solution' in body).length;
const questions = (): number =>
  server.calls.filter(({ path, body }) => path === 'session' && !('solution' in body)).length;

describe('the work', () => {
  test('is done in a worker, under the strictest policy', async () => {
    const workers: string[] = [];
    visitor.page.on('worker', (worker) => workers.push(worker.url()));
    await visitor.page.goto(`${server.url}/page`);
    expect(await ready(visitor.page)).toBe(true);
    const files = workers.map((url) => new URL(url).pathname).toSorted();
    expect(files).toEqual(['/__protect/environment.js', '/__protect/pow-worker.js']);
    expect([questions(), solutions(), visitor.complaints]).toEqual([1, 1, []]);
  });

  test('is done in slices on the page where no worker may run', async () => {
    const policy = STRICT_CSP.replace("worker-src 'self'", "worker-src 'none'");
    server.pages.set('/page', { body: PAGE, headers: { 'content-security-policy': policy } });
    await visitor.page.goto(`${server.url}/page`);
    expect(await ready(visitor.page)).toBe(true);
    expect(solutions()).toBe(1);
  });

  test('is done under every policy that lets the script run', () =>
    expectRows(
      [
        "worker-src 'none'",
        "default-src 'self'; worker-src 'none'",
        "script-src 'nonce-abc' 'strict-dynamic'; worker-src 'none'",
        'trusted-types mine',
        "default-src 'self'; trusted-types 'none'",
      ],
      async (policy) => {
        await visitor.comesAs({});
        server.calls = [];
        const body = PAGE.replace('<script', '<script nonce="abc"');
        server.pages.set('/page', { body, headers: { 'content-security-policy': policy } });
        await visitor.page.goto(`${server.url}/page`);
        expect(await ready(visitor.page)).toBe(true);
        expect(solutions()).toBe(1);
      },
    ));

  test('is another in a browser without BigInt', async () => {
    server.lane = 'sha256';
    await visitor.page.addInitScript(() => Reflect.deleteProperty(globalThis, 'BigInt'));
    await visitor.page.goto(`${server.url}/page`);
    expect(await ready(visitor.page)).toBe(true);
    expect(server.calls.map(({ body }) => body)).toContainEqual({ capabilities: { bigint: false } });
  });

  test('is not done again by the next page', async () => {
    await visitor.page.goto(`${server.url}/page`);
    await ready(visitor.page);
    await visitor.page.goto(`${server.url}/page?next`);
    expect([await ready(visitor.page), questions(), solutions()]).toEqual([true, 1, 1]);
  });

  test('is tried again with other challenges when a solution is refused, three times at most', async () => {
    const refuse = (path: string) =>
      path === 'session' && 'solution' in (server.calls.at(-1)?.body ?? {}) ? { status: 400, body: {} } : null;
    server.overrides.push(refuse, refuse);
    await visitor.page.goto(`${server.url}/page`);
    expect([await ready(visitor.page), questions(), solutions()]).toEqual([true, 3, 3]);
  });
});

test('a page whose session the gate refused opens a new session at once', async () => {
  await visitor.page.goto(`${server.url}/page`);
  await ready(visitor.page);
  const refused = await jtiOf(visitor.page);
  server.pages.set('/page', { body: PAGE, headers: { 'server-timing': `db;dur=5, ${sessionRefusedTiming}` } });
  await visitor.page.goto(`${server.url}/page`);
  expect([await ready(visitor.page), solutions()]).toEqual([true, 2]);
  expect(await jtiOf(visitor.page)).not.toBe(refused);
});

test('an open page opens a new session when the gate refuses its next report', async () => {
  server.overrides.push((path) => (path === 'telemetry' ? { status: 401, body: {} } : null));
  await visitor.page.goto(`${server.url}/page`);
  await ready(visitor.page);
  await expect.poll(solutions).toBe(2);
});

test('tabs that open together share one session', async () => {
  let open = (): void => undefined;
  server.sessionOpens = new Promise<void>((resolve) => (open = resolve));
  const tabs = [visitor.page, await visitor.context.newPage(), await visitor.context.newPage()];
  await Promise.all(tabs.map((tab) => tab.goto(`${server.url}/page`)));
  open();
  expect(await Promise.all(tabs.map(ready))).toEqual([true, true, true]);
  expect(new Set(await Promise.all(tabs.map(jtiOf))).size).toBe(1);
  expect([questions(), solutions()]).toEqual([1, 1]);
});

describe('a browser that keeps no cookies', () => {
  test('works once, however many pages it opens and calls it makes', async () => {
    server.setsSession = false;
    for (const path of ['/page', '/page?second', '/page?third']) {
      await visitor.page.goto(server.url + path);
      expect(await ready(visitor.page)).toBe(false);
      expect(await visitor.page.evaluate(async () => (await fetch('/api/order')).status)).toBe(401);
    }
    expect([questions(), solutions()]).toEqual([1, 1]);
  });

  test('and says so is not asked to work at all', async () => {
    await visitor.page.addInitScript(() =>
      Object.defineProperty(Navigator.prototype, 'cookieEnabled', { get: () => false }),
    );
    await visitor.page.goto(`${server.url}/page`);
    expect([await ready(visitor.page), questions(), solutions()]).toEqual([false, 0, 0]);
  });
});

describe('a page that is not shown', () => {
  let browser: Browser | undefined;
  afterAll(() => browser?.close());

  test('does no work while it is prerendered, and opens its session once it is shown', async () => {
    // Playwright forbids prerendering, so the page is told that it is prerendered.
    await visitor.page.addInitScript(() => {
      let isPrerendering = true;
      Object.defineProperty(document, 'prerendering', { get: () => isPrerendering });
      Object.assign(window, {
        show() {
          isPrerendering = false;
          document.dispatchEvent(new Event('prerenderingchange'));
        },
      });
    });
    await visitor.page.goto(`${server.url}/page`);
    const early = visitor.page.evaluate(async () => (await fetch('/api/early')).status);
    await expect.poll(() => server.visits).toContain('/api/early');
    expect([questions(), solutions()]).toEqual([0, 0]);
    await visitor.page.evaluate(() => (window as unknown as { show(): void }).show());
    expect([await early, await ready(visitor.page)]).toEqual([200, true]);
    expect([questions(), solutions()]).toEqual([1, 1]);
  });

  test('and comes back from the history opens a session again when its own is gone', async () => {
    // Playwright loses sight of pages in the history, so this test sees what reaches the server.
    browser ??= await launchChromium([], ['--disable-back-forward-cache']);
    const page = await browser.newPage();
    server.pages.set('/other', { body: '<!doctype html><title>other</title>' });
    await page.goto(`${server.url}/page`);
    await ready(page);
    await page.goto(`${server.url}/other`);
    await page.context().clearCookies();
    // Later, so that the call is over before its page is gone.
    await page.evaluate(() => void setTimeout(() => history.back()));
    await expect.poll(solutions).toBe(2);
    expect(server.visits.filter((path) => path === '/page')).toHaveLength(1);
  });
});
