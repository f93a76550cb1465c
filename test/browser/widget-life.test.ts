/**
 * The life of a widget and its token: renewal, a new token after a failed submit, reset, the render API, languages,
 * themes, and several widgets on a page.
 */
import { describe, expect, test } from 'vitest';
import type { GatehouseApi } from '../../src/widget/widget.ts';
import { expectRows } from '../support/rows.ts';
import { useVisitor } from '../support/visitor.ts';
import { useWidgetServer } from './widget-server.ts';

const SCRIPT = '<script src="/__protect/widget.js" defer></script>';
const EXPLICIT = '<script src="/__protect/widget.js?render=explicit&amp;onload=onGatehouse" defer></script>';
const page = (head: string, body: string, html = 'lang="en"'): string =>
  `<!doctype html><html ${html}><title>page</title>${head}<body>${body}`;
const form = (widget: string): string =>
  `<form method="post" action="/submit"><input name="name" aria-label="Name">${widget}<button>Send</button></form>`;
const widget = (attributes: string): string => `<gatehouse-widget sitekey="site-1" ${attributes}></gatehouse-widget>`;

const server = useWidgetServer();
const visitor = useVisitor({ isSilent: true });

async function open(body: string, headers: Record<string, string> = {}): Promise<void> {
  server.pages.set('/page', { body, headers });
  await visitor.page.goto(`${server.url}/page`);
}
const verified = (): Promise<void> => visitor.page.getByRole('checkbox', { name: 'Verified' }).first().waitFor();
const tokens = (): Promise<string[]> =>
  visitor.page.evaluate(() =>
    [...document.querySelectorAll<HTMLInputElement>('input[name=captcha-response]')].map(
      (input) => (JSON.parse(input.value) as { token: string }).token,
    ),
  );
const solves = (): number => server.calls.filter((call) => call.path === 'solution').length;

describe('a widget starts', () => {
  test('on load, where the page requests it', async () => {
    await open(page(SCRIPT, form(widget('start="load"'))));
    await verified();
  });

  test('by default when the visitor first uses the form, not before', async () => {
    await open(page(SCRIPT, form(widget(''))));
    await visitor.page.getByRole('checkbox', { name: 'I am human' }).waitFor();
    expect(server.calls).toEqual([]);
    await visitor.page.getByLabel('Name').focus();
    await verified();
  });

  test('on submit where it is invisible', async () => {
    await open(page(SCRIPT, form(widget('size="invisible"'))));
    expect(await visitor.page.getByRole('checkbox').count()).toBe(0);
    await visitor.page.getByRole('button', { name: 'Send' }).click();
    await visitor.page.waitForURL('**/submit');
    expect(server.submitted[0]?.has('captcha-response')).toBe(true);
  });

  test('not for a form with an invalid field, which is not held', async () => {
    await open(page(SCRIPT, form(`<input name="mail" required>${widget('start="submit"')}`)));
    await visitor.page.getByRole('button', { name: 'Send' }).click();
    expect(server.calls).toEqual([]);
  });

  test('once for a form that is submitted twice, which is sent once', async () => {
    await open(page(SCRIPT, form(widget('start="submit"'))));
    await visitor.page.getByRole('button', { name: 'Send' }).dblclick();
    await visitor.page.waitForURL('**/submit');
    expect(server.submitted).toHaveLength(1);
    expect(solves()).toBe(1);
  });
});

describe('a token', () => {
  const LIFETIME_MS = 60_000;
  const RENEWED_AFTER_MS = 48_000;
  /** The page's clock stands still but for what a test lets pass. It is far from the service's. */
  const standStill = async () => {
    const { clock } = visitor.page;
    await clock.install({ time: 0 });
    await clock.pauseAt(1000);
    return clock;
  };

  test('is renewed before it expires, even when the visitor’s clock is wrong', async () => {
    server.tokenLifetimeMs = LIFETIME_MS;
    const clock = await standStill();
    await open(page(SCRIPT, form(widget('start="load"'))));
    await clock.runFor(100);
    await verified();
    const [first] = await tokens();
    await clock.runFor(RENEWED_AFTER_MS);
    const isReplaced = async (): Promise<boolean> => (await tokens()).some((token) => token !== first);
    await expect.poll(isReplaced).toBe(true);
    expect(await tokens()).toHaveLength(1);
    await verified();
  });

  test('that cannot be renewed is removed from the form when it expires, with an event', async () => {
    server.tokenLifetimeMs = LIFETIME_MS;
    const clock = await standStill();
    await open(page(SCRIPT, form(widget('start="load"'))));
    await clock.runFor(100);
    await verified();
    server.overrides.push((path) =>
      path === 'challenge' ? { status: 200, body: { kind: 'image', challenge: 'x' } } : null,
    );
    const expired = visitor.page.evaluate(
      () => new Promise<boolean>((resolve) => addEventListener('gatehouse:expired', () => resolve(true))),
    );
    await clock.runFor(RENEWED_AFTER_MS);
    expect(await tokens()).toHaveLength(1);
    await clock.runFor(LIFETIME_MS - RENEWED_AFTER_MS);
    expect(await expired).toBe(true);
    expect(await tokens()).toEqual([]);
    await visitor.page.getByRole('checkbox', { name: 'Verification expired – Try again' }).waitFor();
  });

  test('is replaced after a submit that did not leave the page', async () => {
    // So long that an ordinary renewal comes after the end of the test.
    server.tokenLifetimeMs = 600_000;
    await open(page(SCRIPT, form(widget('start="load"'))));
    await verified();
    const [first] = await tokens();
    const sent = await visitor.page.evaluate(() => {
      const sender = document.querySelector('form')!;
      let token = '';
      sender.addEventListener('submit', (event) => {
        event.preventDefault();
        token =
          new URLSearchParams(new FormData(sender) as unknown as Record<string, string>).get('captcha-response') ?? '';
      });
      sender.requestSubmit();
      return token;
    });
    expect(JSON.parse(sent)).toEqual({ token: first });
    await expect.poll(async () => (await tokens())[0]).not.toBe(first);
    expect(solves()).toBe(2);
  });

  test('is removed when the form is reset', async () => {
    await open(page(SCRIPT, form(widget('start="load"'))));
    await verified();
    await visitor.page.evaluate(() => document.querySelector('form')!.reset());
    expect(await tokens()).toEqual([]);
    await visitor.page.getByRole('checkbox', { name: 'I am human' }).waitFor();
  });

  test('is removed when the browser restores the page', async () => {
    await open(page(SCRIPT, form(widget('start="click"'))));
    await visitor.page.getByRole('checkbox').click();
    await verified();
    await visitor.page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    expect(await tokens()).toEqual([]);
    await visitor.page.getByRole('checkbox', { name: 'I am human' }).waitFor();
  });

  test('is dropped when its widget is removed from the page while solving', async () => {
    // The submitted solution gets no response while the widget is on the page.
    await visitor.page.route('**/solution', () => undefined);
    const handedIn = visitor.page.waitForRequest('**/solution');
    await open(page(SCRIPT, form(widget('start="load"'))));
    await handedIn;
    const givenUp = visitor.page.waitForEvent('requestfailed');
    await visitor.page.evaluate(() => document.querySelector('gatehouse-widget')!.remove());
    expect((await givenUp).url()).toContain('/solution');
    await expect.poll(() => visitor.page.workers()).toEqual([]);
    expect(await tokens()).toEqual([]);
  });
});

describe('the render API', () => {
  test('renders, calls callbacks, returns the token, resets, executes and removes', async () => {
    await open(page(EXPLICIT, '<div id="place"></div>'));
    await visitor.page.waitForFunction(() => 'gatehouse' in window);
    const result = await visitor.page.evaluate(async () => {
      const gatehouse = (window as unknown as { gatehouse: GatehouseApi }).gatehouse;
      const heard: string[] = [];
      const id = await new Promise<string>((resolve) => {
        gatehouse.ready(() => {
          const options = {
            sitekey: 'site-1',
            start: 'click' as const,
            callback: (token: string) => heard.push(token),
            'reset-callback': () => heard.push('reset'),
          };
          resolve(gatehouse.render('#place', options));
        });
      });
      const token = await gatehouse.execute(id);
      const answered = gatehouse.getResponse(id);
      gatehouse.reset(id);
      const afterReset = gatehouse.getResponse(id);
      gatehouse.remove(id);
      let gone = '';
      try {
        gatehouse.getResponse(id);
      } catch (error) {
        gone = String(error);
      }
      return { heard, token, answered, afterReset, gone, left: document.querySelectorAll('gatehouse-widget').length };
    });
    expect(result.token).toMatch(/^[\w-]{32}$/);
    expect(result).toEqual({
      heard: [result.token, 'reset'],
      token: result.token,
      answered: result.token,
      afterReset: '',
      gone: expect.stringContaining('No such'),
      left: 0,
    });
  });

  test('renders no marked div with render=explicit, and works with two script tags', async () => {
    await open(page(EXPLICIT + SCRIPT, '<div class="gatehouse-captcha" data-sitekey="a"></div>'));
    await visitor.page.waitForFunction(() => 'gatehouse' in window);
    expect(await visitor.page.locator('gatehouse-widget').count()).toBe(0);
  });

  test('gives each widget of a page its own token', async () => {
    const place = '<div class="gatehouse-captcha" data-sitekey="site-1" data-start="load" data-action="login"></div>';
    await open(page(SCRIPT, form(place) + form(place)));
    await expect.poll(async () => (await tokens()).length).toBe(2);
    const [first, second] = await tokens();
    expect(first).not.toBe(second);
    expect(server.calls[0]?.body).toMatchObject({ action: 'login' });
  });

  test('writes the field name that the page sets', async () => {
    await open(page(SCRIPT, form(widget('start="load" field="g-token"'))));
    await verified();
    expect(await visitor.page.locator('input[name=g-token]').count()).toBe(1);
  });
});

describe('the look and the language', () => {
  test('a widget speaks the language of its attribute or else of its page', () =>
    expectRows(
      [
        ['lang="de"', '', 'Ich bin ein Mensch', 'ltr'],
        ['lang="en"', 'data-language="ar"', 'أنا إنسان', 'rtl'],
        ['lang="pt-BR"', '', 'Sou humano', 'ltr'],
        ['lang="zh-TW"', '', '我是真人', 'ltr'],
        ['lang="xx"', '', 'I am human', 'ltr'],
      ],
      async ([html, attributes, label, direction]) => {
        await open(page(SCRIPT, widget(attributes), html));
        await visitor.page.getByRole('checkbox', { name: label }).waitFor();
        expect(await visitor.page.locator('.box').evaluate((box) => getComputedStyle(box).direction)).toBe(direction);
      },
    ));

  test.each(['light', 'dark'] as const)(
    'the %s theme has contrasts of at least 4.5:1 for text and 3:1 for edges',
    async (theme) => {
      await open(page(SCRIPT, widget(`theme="${theme}" start="click"`)));
      await visitor.page.getByRole('checkbox').waitFor();
      const colours = await visitor.page.locator('.box').evaluate((box) => {
        const style = getComputedStyle(box);
        const button = getComputedStyle(box.querySelector('button')!);
        return { text: style.color, ground: style.backgroundColor, edge: button.borderTopColor };
      });
      expect(contrast(colours.text, colours.ground)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(colours.edge, colours.ground)).toBeGreaterThanOrEqual(3);
    },
  );

  test('the box is large enough for touch and shows its focus', async () => {
    await open(page(SCRIPT, widget('start="click"')));
    const box = visitor.page.getByRole('checkbox');
    const { width, height } = (await box.boundingBox())!;
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(24);
    await visitor.page.keyboard.press('Tab');
    expect(await box.evaluate((node) => getComputedStyle(node).outlineStyle)).toBe('solid');
  });
});

function contrast(first: string, second: string): number {
  const [light = 0, dark = 0] = [luminance(first), luminance(second)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).slice(0, 3).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
