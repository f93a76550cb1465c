/**
 * A widget whose surroundings change or are wrong: pages that add, move and copy it, a network that comes back, another
 * colour scheme, a wrong site key, and frames and files without an origin.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Frame, Page } from 'playwright-core';
import { useVisitor } from '../support/visitor.ts';
import { useWidgetServer } from './widget-server.ts';

const server = useWidgetServer();
const visitor = useVisitor();
const loose = { 'content-security-policy': '' };
const DIV = '<div class="gatehouse-captcha" data-sitekey="site-1" data-start="load"></div>';

async function open(body: string, headers: Record<string, string> = {}): Promise<void> {
  const markup = `<!doctype html><html lang="en"><title>page</title><script src="/__protect/widget.js" defer></script><body><form method="post" action="/submit">${body}<button>Send</button></form>`;
  server.pages.set('/page', { body: markup, headers });
  await visitor.page.goto(`${server.url}/page`);
  await visitor.page.waitForFunction(() => 'gatehouse' in window);
}
const label = (text: string, place: Page | Frame = visitor.page): Promise<void> =>
  place.getByRole('checkbox', { name: text }).waitFor();
const widgets = (): Promise<number> => visitor.page.locator('gatehouse-widget').count();
const fields = (): Promise<number> => visitor.page.locator('input[name=captcha-response]').count();
const complaints = (): string[] => visitor.complaints.filter((text) => text.startsWith('Gatehouse:'));
const calls = (path: string): number => server.calls.filter((call) => call.path === path).length;

describe('a marked div', () => {
  test('that the page adds later renders', async () => {
    await open('', loose);
    await visitor.page.evaluate((div) => {
      document.querySelector('form')!.insertAdjacentHTML('afterbegin', `<section>${div}</section>`);
    }, DIV);
    await label('Verified');
    expect([await widgets(), await fields()]).toEqual([1, 1]);
  });

  test('that is removed and put back, or moved, renders again with one field', async () => {
    await open(`${DIV}<p></p>`);
    await label('Verified');
    await visitor.page.evaluate(() => {
      const div = document.querySelector('.gatehouse-captcha')!;
      div.remove();
      document.querySelector('form')!.append(div);
    });
    await expect.poll(() => calls('solution')).toBe(2);
    await label('Verified');
    expect([await widgets(), await fields()]).toEqual([1, 1]);
    await visitor.page.evaluate(() =>
      document.querySelector('p')!.append(document.querySelector('.gatehouse-captcha')!),
    );
    await expect.poll(() => calls('solution')).toBe(3);
    await label('Verified');
    expect([await widgets(), await fields()]).toEqual([1, 1]);
  });

  test('that the page empties, or replaces by another, renders again', async () => {
    await open(DIV);
    await label('Verified');
    await visitor.page.evaluate(() => document.querySelector('.gatehouse-captcha')!.replaceChildren());
    await expect.poll(() => calls('solution')).toBe(2);
    await visitor.page.evaluate(() => {
      const div = document.querySelector('.gatehouse-captcha')!;
      div.replaceWith(Object.assign(div.cloneNode() as HTMLElement, { id: 'other' }));
    });
    await expect.poll(() => calls('solution')).toBe(3);
    await label('Verified');
    expect([await widgets(), await fields()]).toEqual([1, 1]);
  });

  test('that is copied with its widget gets a token of its own', async () => {
    await open(DIV);
    await label('Verified');
    await visitor.page.evaluate(() => {
      const copy = document.querySelector('.gatehouse-captcha')!.cloneNode(true);
      document.querySelector('form')!.replaceWith(copy);
    });
    await expect.poll(() => calls('solution')).toBe(2);
    await label('Verified');
    const values = await visitor.page
      .locator('input[name=captcha-response]')
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value));
    expect(values).toHaveLength(1);
  });

  test('stays empty after the page removed its widget by the API', async () => {
    await open(DIV);
    await label('Verified');
    await visitor.page.evaluate(() => {
      window.gatehouse!.remove();
      document.body.append('more');
    });
    await visitor.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    expect(await widgets()).toBe(0);
  });

  test('leaves no listener behind when it goes, however often it comes', async () => {
    await visitor.page.addInitScript(() => {
      const held = new Map<string, number>();
      const count = (target: EventTarget, type: string, by: number): void => {
        const name = `${target.constructor.name} ${type}`;
        if (target === window || target instanceof MediaQueryList || target instanceof Document)
          held.set(name, (held.get(name) ?? 0) + by);
      };
      for (const [name, by] of [
        ['addEventListener', 1],
        ['removeEventListener', -1],
      ] as const) {
        const original = Reflect.get(EventTarget.prototype, name) as (...rest: unknown[]) => void;
        EventTarget.prototype[name] = function (type: string, ...rest: unknown[]) {
          count(this, type, by);
          original.call(this, type, ...rest);
        };
      }
      Object.assign(window, { held: () => Object.fromEntries(held) });
    });
    await open(DIV.replace('load', 'click'), loose);
    const held = (): Promise<Record<string, number>> =>
      visitor.page.evaluate(() => (window as unknown as { held: () => Record<string, number> }).held());
    const once = await held();
    expect(once).toMatchObject({ 'MediaQueryList change': 1, 'Window online': 1, 'Window pageshow': 1 });
    await visitor.page.evaluate(
      async (div) => {
        for (let time = 0; time < 20; time++) {
          document.querySelector('.gatehouse-captcha')!.remove();
          document.querySelector('form')!.insertAdjacentHTML('afterbegin', div);
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
      },
      DIV.replace('load', 'click'),
    );
    expect(await widgets()).toBe(1);
    expect(await held()).toEqual(once);
  });
});

describe('without a network', () => {
  test('the widget says so, and tries again by itself when the network returns', async () => {
    await open('<gatehouse-widget sitekey="site-1" start="click"></gatehouse-widget>');
    await label('I am human');
    await visitor.context.setOffline(true);
    await visitor.page.getByRole('checkbox').click();
    await label('Verification service unreachable – Try again');
    await visitor.context.setOffline(false);
    await label('Verified');
    expect(await fields()).toBe(1);
  });

  test('a dialog does the same, and the held form is sent', async () => {
    await open('<gatehouse-widget sitekey="site-1" size="invisible"></gatehouse-widget>');
    await visitor.page.waitForFunction(() => Symbol.for('gatehouse.dialog') in window);
    await visitor.context.setOffline(true);
    await visitor.page.getByRole('button', { name: 'Send' }).click();
    await visitor.page.getByRole('dialog').getByText('Verification service unreachable').waitFor();
    await visitor.context.setOffline(false);
    await visitor.page.waitForURL('**/submit');
  });

  test('a widget that failed for another reason does not start by itself', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    await open('<gatehouse-widget sitekey="site-1" start="load"></gatehouse-widget>');
    await label('Verification failed – Try again');
    await visitor.page.evaluate(() => dispatchEvent(new Event('online')));
    await visitor.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    expect(calls('challenge')).toBe(1);
    await label('Verification failed – Try again');
  });
});

test('theme=auto follows the system’s colours, also in an open dialog', async () => {
  server.kind = 'image';
  await visitor.page.emulateMedia({ colorScheme: 'light' });
  await open('<gatehouse-widget sitekey="site-1" start="click"></gatehouse-widget>', loose);
  await visitor.page.getByRole('checkbox').click();
  await visitor.page.locator('#instruction').waitFor();
  const grounds = (): Promise<string[]> =>
    Promise.all(
      [visitor.page.locator('.box'), visitor.page.getByRole('dialog')].map((part) =>
        part.evaluate((node) => getComputedStyle(node).backgroundColor),
      ),
    );
  expect(await grounds()).toEqual(['rgb(255, 255, 255)', 'rgb(255, 255, 255)']);
  await visitor.page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(grounds).toEqual(['rgb(29, 35, 48)', 'rgb(29, 35, 48)']);
});

describe('a wrong setup is told to the developer once, and calmly to the visitor', () => {
  const two = '<gatehouse-widget sitekey="site-x" start="load"></gatehouse-widget>'.repeat(2);

  test.each([
    ['an unknown site key', 'API.SITE_KEY_NOT_REGISTERED', /"site-x" is not the key of an active site.*\/sites\/list/],
    ['a host that the site does not list', 'API.UNAUTHORIZED_ORIGIN_URL', /"site-x" does not allow 127\.0\.0\.1/],
  ])('%s', async (_name, key, message) => {
    for (let time = 0; time < 2; time++) server.overrides.push(() => ({ status: 400, body: { error: { key } } }));
    await open(two);
    await expect.poll(() => visitor.page.getByText('Verification is not available here').count()).toBe(4);
    expect(complaints()).toEqual([expect.stringMatching(message)]);
    expect(await visitor.page.getByText('Try again').count()).toBe(0);
  });

  test('a refusal for another reason is not told', async () => {
    server.overrides.push(() => ({ status: 403, body: { error: { key: 'API.ACCESS_POLICY_BLOCK' } } }));
    await open('<gatehouse-widget sitekey="site-x" start="load"></gatehouse-widget>');
    await label('Verification failed – Try again');
    expect(complaints()).toEqual([]);
  });
});

describe('a page without an origin says what is wrong', () => {
  const page = (host: string): string =>
    `<!doctype html><html lang="en"><title>inner</title><script src="${host}/__protect/widget.js"></script><gatehouse-widget sitekey="site-1" start="load"></gatehouse-widget>`;

  async function saysSo(place: Page | Frame): Promise<void> {
    await label('Verification is not available here', place);
    expect(complaints()).toEqual([expect.stringMatching(/no origin.*allow-same-origin/)]);
    expect(server.calls).toEqual([]);
  }
  const innerFrame = async (): Promise<Frame> => {
    await expect.poll(() => visitor.page.frames().length).toBe(2);
    return visitor.page.frames()[1]!;
  };

  test('a sandboxed frame', async () => {
    server.pages.set('/inner', { body: page(server.url), headers: loose });
    await open('<iframe sandbox="allow-scripts allow-forms" src="/inner" title="inner"></iframe>', loose);
    await saysSo(await innerFrame());
  });

  test('a sandboxed srcdoc', async () => {
    const inner = page(server.url).replaceAll('"', '&quot;');
    await open(`<iframe sandbox="allow-scripts" srcdoc="${inner}" title="inner"></iframe>`, loose);
    await saysSo(await innerFrame());
  });

  test('a file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-file-'));
    try {
      const file = join(dir, 'page.html');
      writeFileSync(file, page(server.url));
      await visitor.page.goto(pathToFileURL(file).href);
      await saysSo(visitor.page);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('a srcdoc with the origin of its page works', async () => {
    const inner = page(server.url).replaceAll('"', '&quot;');
    await open(`<iframe srcdoc="${inner}" title="inner"></iframe>`, loose);
    await label('Verified', await innerFrame());
  });
});
