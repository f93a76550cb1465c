/** The protect script in a real Chromium: the page's own requests pass the gate without a change of the page's code. */
import { beforeEach, describe, expect, test } from 'vitest';
import { telemetryReport } from '../../src/contract/edge/page-reports.ts';
import type { GatehouseProtect } from '../../src/widget/protect.ts';
import { useVisitor } from '../support/visitor.ts';
import { useWidgetServer } from './widget-server.ts';

const PAGE = `<!doctype html><html lang="en"><title>page</title><script src="/__protect/protect.js"></script>
<form method="post" action="/submit" data-protect-gate><button name="how" value="fast">Send</button></form>`;

const server = useWidgetServer();
const visitor = useVisitor({ expected: (message) => /status of 40[013]|ERR_FAILED/.test(message.text()) });
beforeEach(() => {
  server.pages.set('/page', { body: PAGE });
});

const paths = (): string[] => server.calls.map((call) => call.path);

describe('a page of the site', () => {
  test('opens a session at once and exposes its id', async () => {
    await visitor.page.goto(`${server.url}/page`);
    expect(await visitor.page.evaluate(() => window.gatehouseProtect?.ready)).toBe(true);
    const jti = await visitor.page.evaluate(
      () => (window.gatehouseProtect satisfies GatehouseProtect | undefined)?.jti,
    );
    expect(jti).toMatch(/^jti-\d+$/);
    expect(paths()).toEqual(['session', 'session']);
    expect(visitor.complaints).toEqual([]);
  });

  test('holds a marked form until the session is open', async () => {
    let open = (): void => undefined;
    server.sessionOpens = new Promise<void>((resolve) => (open = resolve));
    await visitor.page.goto(`${server.url}/page`);
    await visitor.page.getByRole('button', { name: 'Send' }).click();
    expect(await visitor.page.locator('form').getAttribute('aria-busy')).toBe('true');
    expect(server.submitted).toEqual([]);
    open();
    await visitor.page.waitForURL('**/submit');
    expect(server.submitted.map((sent) => sent.get('how'))).toEqual(['fast']);
    expect((await visitor.context.cookies()).map((cookie) => cookie.name)).toContain('protect_session');
  });

  test('reports an automated browser, in the schema of telemetry', async () => {
    await visitor.page.goto(`${server.url}/page`);
    await visitor.page.evaluate(() => window.gatehouseProtect?.ready);
    await visitor.page.mouse.move(10, 10);
    await visitor.page.mouse.move(40, 60);
    await expect.poll(paths).toContain('telemetry');
    const report = telemetryReport.parse(server.calls.find((call) => call.path === 'telemetry')?.body);
    expect(report.traits).toContain('webdriver');
    expect(report.pointerMoves).toBeGreaterThan(0);
  });

  test('reports presses without pointer moves and even typing, but not scrolling by scripts', async () => {
    const { page } = visitor;
    await page.goto(`${server.url}/page`);
    await page.evaluate(() => window.gatehouseProtect?.ready);
    for (const [x, y] of [
      [300, 300],
      [600, 120],
      [200, 420],
    ] as const)
      await page.mouse.click(x, y);
    await page.keyboard.type('one pace', { delay: 20 });
    await page.evaluate(() => {
      for (let time = 0; time < 40; time++) dispatchEvent(new Event('scroll'));
      for (let time = 0; time < 7; time++) dispatchEvent(new PointerEvent('pointermove'));
    });
    await expect.poll(paths).toContain('telemetry');
    const report = telemetryReport.parse(server.calls.find((call) => call.path === 'telemetry')?.body);
    expect(report).toMatchObject({ presses: 3, leaps: 2, touches: 0, keys: 8, keyGaps: 7, untrusted: 7 });
    expect(report.visibleMs).toBe(report.elapsedMs);
  });

  test('tells a session of nothing that came before it', async () => {
    const { page } = visitor;
    await page.goto(`${server.url}/page`);
    await page.evaluate(() => window.gatehouseProtect?.ready);
    await page.mouse.move(10, 10);
    await page.mouse.move(40, 60);
    const reports = () =>
      server.calls.filter(({ path }) => path === 'telemetry').map(({ body }) => telemetryReport.parse(body));
    await expect.poll(() => reports().length).toBe(1);
    // As when the session ended and another tab opened the next one.
    await page.evaluate(() => {
      document.cookie = 'protect_session=jti-2|jwt; Path=/';
    });
    const changedAt = await page.evaluate(() => {
      document.dispatchEvent(new Event('visibilitychange'));
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
      Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
      return performance.now();
    });
    await page.keyboard.press('a');
    await expect.poll(() => reports().length).toBe(2);
    const [, second] = reports();
    expect(second).toMatchObject({ pointerMoves: 0, keys: 1 });
    const now = await page.evaluate(() => performance.now());
    expect(second!.elapsedMs).toBeLessThanOrEqual(now - changedAt + 50);
  });
});

describe('a fetch', () => {
  test('without session and clearance is repeated after each, and arrives once with its body', async () => {
    server.overrides.push((path) => (path === 'session' ? { status: 400, body: {} } : null));
    await visitor.page.goto(`${server.url}/page`);
    await visitor.page.evaluate(() => window.gatehouseProtect?.ready);
    const answer = await visitor.page.evaluate(async () => {
      const response = await fetch('/api/order', { method: 'POST', body: 'one order' });
      return { status: response.status, body: await response.json() };
    });
    expect(answer).toEqual({ status: 200, body: { got: 'one order' } });
    expect(server.apiBodies).toEqual(['one order']);
    expect(paths()).toEqual(['session', 'session', 'session', 'challenge', 'solution', 'verify']);
    expect(visitor.complaints).toEqual([]);
  });

  test('of a Request with a body is repeated with that body', async () => {
    await visitor.page.goto(`${server.url}/page`);
    const text = await visitor.page.evaluate(async () => {
      const response = await fetch(new Request('/api/order', { method: 'PUT', body: new Blob(['blob body']) }));
      return response.text();
    });
    expect(JSON.parse(text)).toEqual({ got: 'blob body' });
  });

  test('that is challenged together with others shares one solution', async () => {
    await visitor.page.goto(`${server.url}/page`);
    const statuses = await visitor.page.evaluate(() =>
      Promise.all(Array.from({ length: 5 }, async (_, index) => (await fetch(`/api/${index}`)).status)),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect(paths().filter((path) => path === 'challenge')).toHaveLength(1);
  });

  test('that hears of its challenge after another one was solved is repeated without a second one', async () => {
    const { page } = visitor;
    await page.goto(`${server.url}/page`);
    await page.evaluate(() => window.gatehouseProtect?.ready);
    const released = Promise.withResolvers<void>();
    server.lateAnswer = released.promise;
    const late = page.evaluate(async () => (await fetch('/api/late')).status);
    await expect.poll(() => server.visits).toContain('/api/late');
    expect(await page.evaluate(async () => (await fetch('/api/early')).status)).toBe(200);
    released.resolve();
    expect(await late).toBe(200);
    expect(paths().filter((path) => path === 'challenge')).toHaveLength(1);
  });

  test('gets the gate’s response when the visitor closes the dialog', async () => {
    server.overrides.push((path) => (path === 'challenge' ? { status: 400, body: {} } : null));
    await visitor.page.goto(`${server.url}/page`);
    const status = visitor.page.evaluate(async () => (await fetch('/api/order')).status);
    await visitor.page.getByRole('dialog').waitFor();
    expect(
      await visitor.page.getByRole('button', { name: 'Try again' }).evaluate((button) => button.matches(':focus')),
    ).toBe(true);
    await visitor.page.keyboard.press('Escape');
    expect(await status).toBe(403);
    expect(await visitor.page.getByRole('dialog').count()).toBe(0);
  });

  test('gives the focus back to the page after the task in the dialog', async () => {
    server.kind = 'puzzle';
    await visitor.page.goto(`${server.url}/page`);
    const send = visitor.page.getByRole('button', { name: 'Send' });
    await send.focus();
    const status = visitor.page.evaluate(async () => (await fetch('/api/order')).status);
    const dialog = visitor.page.getByRole('dialog', { name: 'Short check' });
    await dialog.getByRole('button', { name: 'New task' }).waitFor();
    expect(await dialog.evaluate((node) => node.matches(':modal'))).toBe(true);
    expect(await visitor.page.locator('#instruction').evaluate((node) => node.matches(':focus'))).toBe(true);
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await status).toBe(403);
    expect(await send.evaluate((node) => node === document.activeElement)).toBe(true);
    expect(await dialog.count()).toBe(0);
  });

  test('is tried again by itself when the network returns', async () => {
    let isDown = true;
    await visitor.context.route('**/__protect/challenge', (route) => (isDown ? route.abort() : route.continue()));
    await visitor.page.goto(`${server.url}/page`);
    const status = visitor.page.evaluate(async () => (await fetch('/api/order')).status);
    await visitor.page.getByRole('dialog').getByText('Verification service unreachable').waitFor();
    isDown = false;
    await visitor.page.evaluate(() => dispatchEvent(new Event('online')));
    expect(await status).toBe(200);
  });

  test('can be retried in the dialog after a failure', async () => {
    server.overrides.push((path) => (path === 'challenge' ? { status: 400, body: {} } : null));
    await visitor.page.goto(`${server.url}/page`);
    const status = visitor.page.evaluate(async () => (await fetch('/api/order')).status);
    await visitor.page.getByRole('button', { name: 'Try again' }).click();
    expect(await status).toBe(200);
  });
});

describe('an XMLHttpRequest', () => {
  test('gets only the response after the challenge', async () => {
    await visitor.page.goto(`${server.url}/page`);
    const heard = await visitor.page.evaluate(
      () =>
        new Promise((resolve) => {
          const events: string[] = [];
          const request = new XMLHttpRequest();
          const onState = (): number => events.push(`state ${request.readyState} ${request.status}`);
          const onLoad = (): number => events.push(`load ${request.responseText}`);
          // Older code sets handler properties, which a patch of XMLHttpRequest easily misses.
          Object.assign(request, { onreadystatechange: onState, onload: onLoad });
          request.addEventListener('loadend', () => resolve(events));
          request.open('POST', '/api/order');
          request.setRequestHeader('X-Test', '1');
          request.send('xhr body');
        }),
    );
    expect(heard).toEqual(['state 1 0', 'state 2 200', 'state 3 200', 'state 4 200', 'load {"got":"xhr body"}']);
    expect(server.apiBodies).toEqual(['xhr body']);
  });
});
