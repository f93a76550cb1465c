/** The challenge page in a real Chromium under its own CSP: solving, continuing, and not looping. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { useVisitor } from '../support/visitor.ts';
import { pressToAnswer } from './visual-tasks.ts';
import { useWidgetServer } from './widget-server.ts';

const server = useWidgetServer();
const visitor = useVisitor({ expected: (message) => /status of 403/.test(message.text()) });

describe('a challenged navigation', () => {
  test('is solved without any input and opens the requested page, with query and fragment', async () => {
    await visitor.page.goto(`${server.url}/protected/a?b=1&c=%2F#part`);
    await visitor.page.waitForFunction(() => document.title === 'inside');
    expect(visitor.page.url()).toBe(`${server.url}/protected/a?b=1&c=%2F#part`);
    expect(server.calls.map((call) => call.path)).toEqual(['challenge', 'solution', 'verify']);
    expect(server.calls[0]?.body).toMatchObject({ siteKey: 'site-1', action: 'clearance' });
    expect(visitor.complaints).toEqual([]);
  });

  test('shows after a failure the reference that a visitor can quote, and help', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByText('request-1').waitFor();
    const help = visitor.page.getByRole('link', { name: 'What can I do?' });
    expect(await help.getAttribute('href')).toBe('/__protect/help?reference=request-1');
    // What the page holds stays there.
    expect(await help.getAttribute('target')).toBe('_blank');
  });

  test('stays where it is when a task appears, and has no reference before something fails', async () => {
    server.kind = 'image';
    let goOn = (): void => undefined;
    await visitor.context.route('**/__protect/challenge', (route) => {
      goOn = () => void route.continue();
    });
    await visitor.page.goto(`${server.url}/protected`);
    const heading = visitor.page.getByRole('heading', { name: 'One moment, please' });
    await visitor.page.getByText('Checking…').waitFor();
    const before = await heading.boundingBox();
    goOn();
    await visitor.page.locator('.task').waitFor();
    expect(await heading.boundingBox()).toEqual(before);
    expect(await visitor.page.getByText('request-1').isVisible()).toBe(false);
    expect(await visitor.page.getByText('What can I do?').isVisible()).toBe(false);
    const line = await visitor.page.locator('footer').evaluate((footer) => getComputedStyle(footer).borderTopColor);
    expect(line).toBe('rgba(0, 0, 0, 0)');
  });

  test('runs from right to left in Arabic, task and footer too', async () => {
    await visitor.comesAs({ locale: 'ar' });
    server.kind = 'image';
    server.interstitial = { notice: 'failed', branding: { privacyUrl: '/privacy' } };
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.locator('.task').waitFor();
    const leftAligned = await visitor.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('main p, main h1, .task, .task p')]
        .filter((node) => getComputedStyle(node).direction !== 'rtl' || getComputedStyle(node).textAlign === 'left')
        .map((node) => node.outerHTML.slice(0, 80)),
    );
    expect(leftAligned).toEqual([]);
  });

  test('shows a failure and offers a retry, which works', async () => {
    server.overrides.push((path) => (path === 'verify' ? { status: 200, body: { verified: false } } : null));
    await visitor.page.goto(`${server.url}/protected`);
    const retry = visitor.page.getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    expect(await visitor.page.getByRole('status').textContent()).toBe('The check failed.');
    expect(await retry.evaluate((button) => button === document.activeElement)).toBe(true);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForFunction(() => document.title === 'inside');
  });

  test('shows that the check took too long, not that it failed', async () => {
    const late = { status: 200, body: { verified: false, reason: 'API.TIMESTAMP_TOO_OLD' } };
    server.overrides.push((path) => (path === 'solution' ? late : null));
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByText('The check took too long.').waitFor();
    await visitor.page.getByRole('button', { name: 'Try again' }).click();
    await visitor.page.waitForFunction(() => document.title === 'inside');
  });

  test('works on without a word when the price has risen meanwhile', async () => {
    const asked = await fetch(`${server.url}/__protect/challenge`, { method: 'POST', body: '{}' });
    const body = { verified: false, reason: 'CAPTCHA.PRICE_RISEN', next: await asked.json() };
    server.overrides.push((path) => (path === 'solution' ? { status: 200, body } : null));
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.waitForFunction(() => document.title === 'inside');
    expect(server.calls.filter(({ path }) => path === 'solution')).toHaveLength(2);
  });

  test('shows an unreachable service differently from a refusal', async () => {
    await visitor.context.route('**/__protect/challenge', (route) => route.abort());
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByText('The verification service cannot be reached.').waitFor();
  });

  test('tries again by itself when the network returns', async () => {
    let isDown = true;
    await visitor.context.route('**/__protect/challenge', (route) => (isDown ? route.abort() : route.continue()));
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByText('The verification service cannot be reached.').waitFor();
    isDown = false;
    await visitor.page.evaluate(() => dispatchEvent(new Event('online')));
    await visitor.page.waitForFunction(() => document.title === 'inside');
  });

  test('links the privacy page of the brand', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    server.interstitial = { branding: { privacyUrl: '/privacy' } };
    await visitor.page.goto(`${server.url}/protected`);
    expect(await visitor.page.getByRole('link', { name: 'Privacy' }).getAttribute('href')).toBe('/privacy');
  });

  test('keeps a task in place while the next one is fetched, and clears it after the last', async () => {
    server.kind = 'image';
    await visitor.page.goto(`${server.url}/protected`);
    const task = visitor.page.locator('.task');
    await task.waitFor();
    let goOn = (): void => undefined;
    await visitor.context.route('**/__protect/challenge', (route) => {
      goOn = () => void route.continue();
    });
    const belowHeading = (): Promise<number> =>
      task.evaluate((node) => node.getBoundingClientRect().y - document.querySelector('h1')!.getBoundingClientRect().y);
    const before = await belowHeading();
    await visitor.page.getByRole('button', { name: 'New task' }).click();
    await visitor.page.locator('.task[aria-busy=true]').waitFor();
    expect(await belowHeading()).toBe(before);
    expect(await visitor.page.getByRole('status').textContent()).toBe('Checking…');
    server.overrides.push(() => ({ status: 400, body: {} }));
    goOn();
    await visitor.page.getByText('The check failed.').waitFor();
    expect(await task.count()).toBe(0);
  });

  test('stops after three passes when the browser does not keep the clearance', async () => {
    server.clears = false;
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByText('Cookies are switched off').waitFor();
    expect(server.calls.filter((call) => call.path === 'verify')).toHaveLength(3);
    await visitor.page.getByRole('button', { name: 'Try again' }).waitFor();
  });
});

describe('a challenged submission', () => {
  test('is sent once after solving, and not again when the visitor goes back', async () => {
    server.interstitial = { replay: { url: '/__protect/replay', seal: 'sealed-form', noScript: null } };
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.waitForFunction(() => document.title === 'received');
    expect(server.submitted.map((sent) => sent.get('seal'))).toEqual(['sealed-form']);
    expect(visitor.complaints).toEqual([]);
  });
});

describe('a visitor', () => {
  test('without scripts can continue by a link, or waits until the page opens by itself', async () => {
    await visitor.comesAs({ javaScriptEnabled: false });
    server.interstitial = { noScript: { url: '/no-script', waitSeconds: 1 } };
    server.pages.set('/no-script', { body: '<title>let through</title>' });
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByRole('link', { name: 'Continue without scripts' }).waitFor();
    await visitor.page.waitForURL('**/no-script');
    expect(server.calls).toEqual([]);
  });

  test('with cookies off sees a message and solves nothing', async () => {
    await visitor.context.addInitScript(() => {
      Object.defineProperty(Navigator.prototype, 'cookieEnabled', { get: () => false });
    });
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByText('Allow cookies for this site, then try again.').waitFor();
    await visitor.page.getByRole('button', { name: 'Try again' }).click();
    // A challenge would begin in the click's own handler, and the page would show another state.
    expect(await visitor.page.locator('[role=status]').getAttribute('data-state')).toBe('cookies');
    expect(server.calls).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'reads Arabic from right to left on a screen of 360 pixels, %s',
    async (colorScheme) => {
      await visitor.comesAs({
        locale: 'ar-EG',
        viewport: { width: 360, height: 640 },
        colorScheme,
        reducedMotion: 'reduce',
      });
      server.overrides.push(() => ({ status: 400, body: {} }));
      await visitor.page.goto(`${server.url}/protected`);
      await visitor.page.getByRole('button', { name: 'حاول مجددًا' }).waitFor();
      const seen = await visitor.page.evaluate(() => ({
        direction: getComputedStyle(document.body).direction,
        language: document.documentElement.lang,
        width: document.documentElement.scrollWidth,
        title: document.title,
      }));
      expect(seen).toEqual({ direction: 'rtl', language: 'ar', width: 360, title: 'لحظة من فضلك' });
      await visitor.page.keyboard.press('Enter');
      await visitor.page.waitForFunction(() => document.title === 'inside');
    },
  );

  test('with a screen reader gets one heading, a status and the named button', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByRole('button', { name: 'Try again' }).waitFor();
    const tree = await visitor.page.locator('body').ariaSnapshot();
    expect(tree).toContain('- main:');
    expect(tree).toContain('heading "One moment, please" [level=1]');
    expect(tree).toContain('status: The check failed.');
    expect(tree).toContain('button "Try again"');
    expect(tree).not.toContain('progressbar');
  });

  test('with two tabs passes in both', async () => {
    const second = await visitor.context.newPage();
    await Promise.all([visitor.page.goto(`${server.url}/protected/1`), second.goto(`${server.url}/protected/2`)]);
    await Promise.all([visitor.page, second].map((tab) => tab.waitForFunction(() => document.title === 'inside')));
    expect(new URL(second.url()).pathname).toBe('/protected/2');
  });

  test('passes while another tab looks whether cookies work', async () => {
    // Each tab removes, in the middle of its own check, the cookie that the tab before has checked with.
    await visitor.context.addInitScript(() => {
      const own = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie')!;
      const ofOther = localStorage.getItem('checked-with');
      Object.defineProperty(document, 'cookie', {
        get: () => own.get!.call(document) as string,
        set(text: string) {
          own.set!.call(document, text);
          if (ofOther !== null) own.set!.call(document, `${ofOther}=; Path=/; Max-Age=0`);
          localStorage.setItem('checked-with', text.split('=')[0]!);
        },
      });
    });
    const passes = async (tab: Page, path: string) => {
      await tab.goto(server.url + path);
      await tab.waitForFunction(() => document.title === 'inside');
    };
    await passes(visitor.page, '/protected/1');
    await visitor.context.clearCookies();
    await passes(await visitor.context.newPage(), '/protected/2');
  });
});

describe('a picture task on the challenge page', () => {
  test('is solved by keyboard and opens the page, without a CSP violation', async () => {
    server.kind = 'puzzle';
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByRole('application', { name: 'Circle to move' }).waitFor();
    await visitor.page.keyboard.press('Tab');
    await pressToAnswer(visitor.page);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForFunction(() => document.title === 'inside');
    expect(visitor.complaints).toEqual([]);
  });
});

describe('branding', () => {
  test('text on a light button is dark', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    server.interstitial = {
      branding: { name: 'Shop', primaryColor: '#ffee00', backgroundColor: '#102030', title: 'Hi <b>' },
    };
    await visitor.page.goto(`${server.url}/protected`);
    await visitor.page.getByRole('heading', { name: 'Hi <b>' }).waitFor();
    const button = visitor.page.locator('main > button');
    await button.waitFor();
    expect(await button.evaluate((node) => getComputedStyle(node).color)).toBe('rgb(0, 0, 0)');
    expect(await visitor.page.locator('main').evaluate((node) => getComputedStyle(node).color)).toBe(
      'rgb(255, 255, 255)',
    );
  });
});
