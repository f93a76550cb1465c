/**
 * The dialog that a task opens in: where it is, what has the focus, how it is closed, and what a screen reader hears.
 */
import { describe, expect, test } from 'vitest';
import type { Locator } from 'playwright-core';
import { expectRows } from '../support/rows.ts';
import { useVisitor } from '../support/visitor.ts';
import { starTiles } from './visual-tasks.ts';
import { useWidgetServer } from './widget-server.ts';

const server = useWidgetServer();
/** The dialog does not move while it opens, so that its place can be measured. */
const visitor = useVisitor({ context: { reducedMotion: 'reduce' } });

/** In the middle of the window, where anything that grows moves everything else. */
const style = 'body{margin:0;min-height:100vh;display:grid;place-items:center}';
const loose = { 'content-security-policy': '' };

async function open(attributes = 'start="click"', kind: 'image' | 'puzzle' | 'pow' = 'image', html = 'lang="en"') {
  server.kind = kind;
  const body = `<!doctype html><html ${html}><meta name="viewport" content="width=device-width"><title>page</title><style>${style}</style><script src="/__protect/widget.js" defer></script><body><main><h1>Contact</h1><form method="post" action="/submit"><input name="name" aria-label="Name"><gatehouse-widget sitekey="site-1" ${attributes}></gatehouse-widget><button>Send</button></form></main>`;
  server.pages.set('/page', { body, headers: loose });
  await visitor.page.goto(`${server.url}/page`);
  await visitor.page.waitForFunction(() => 'gatehouse' in window);
  // What the page hears of the widget.
  await visitor.page.evaluate(() => {
    const heard: string[] = [];
    for (const name of ['open', 'close', 'error', 'verified'])
      addEventListener(`gatehouse:${name}`, (event) =>
        heard.push([name, (event as CustomEvent<{ code?: string }>).detail.code].filter(Boolean).join(' ')),
      );
    Object.assign(window, { heard });
  });
}

const box = (): Locator => visitor.page.getByRole('checkbox');
const dialog = (): Locator => visitor.page.getByRole('dialog');
const button = (name: string): Locator => visitor.page.getByRole('button', { name });
const instruction = (): Locator => visitor.page.locator('#instruction');
/** Of the page: a dialog that is closing still has a form of its own. */
const send = (): Locator => visitor.page.getByRole('button', { name: 'Send', exact: true });
const heard = (): Promise<string[]> => visitor.page.evaluate(() => (window as unknown as { heard: string[] }).heard);
const isFocused = (node: Locator): Promise<boolean> => node.evaluate((found) => found.matches(':focus'));
const challenges = (): number => server.calls.filter((call) => call.path === 'challenge').length;
/** The element with the focus, through shadow roots. */
const focused = (): Promise<string> =>
  visitor.page.evaluate(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at?.id || at?.textContent || (at?.localName ?? '');
  });
const solveImages = async (): Promise<void> => {
  for (const [round, tiles] of starTiles.entries()) {
    await visitor.page.getByText(`(${round + 1}/2)`).waitFor();
    for (const tile of tiles) await button(`Picture ${tile + 1}`).click();
    await button('Submit').click();
  }
};

describe('a task', () => {
  test('opens in a modal dialog with heading, task, new task, sound and close', async () => {
    await open();
    await box().click();
    await instruction().waitFor();
    expect(await dialog().evaluate((node) => node.matches(':modal'))).toBe(true);
    const tree = await dialog().ariaSnapshot();
    for (const part of [
      'dialog "Short check"',
      'heading "Short check" [level=2]',
      'button "Close"',
      'button "Picture 9"',
      'button "Submit"',
      'button "New task"',
      'button "Use sound instead"',
      'Why am I seeing this?',
    ])
      expect(tree).toContain(part);
  });

  test('moves nothing on the page, and leaves the box where it is', async () => {
    await open();
    await box().waitFor();
    const layout = (): Promise<number[]> =>
      visitor.page.evaluate(() =>
        [...document.querySelectorAll('h1, input, gatehouse-widget, form > button')]
          .flatMap((node) => {
            const { x, y, width, height } = node.getBoundingClientRect();
            return [x, y, width, height];
          })
          .concat(document.documentElement.scrollHeight, document.documentElement.scrollWidth),
      );
    const before = await layout();
    await box().click();
    await instruction().waitFor();
    expect(await layout()).toEqual(before);
    await visitor.page.keyboard.press('Escape');
    await visitor.page.getByRole('checkbox', { name: 'Please solve a short task.' }).waitFor();
    expect(await layout()).toEqual(before);
  });

  test('opens at its box, in a width that fits it', () =>
    expectRows(
      [
        ['normal', 'lang="en"', 366],
        ['compact', 'lang="en"', 366],
        ['flexible', 'lang="en"', 400],
        ['normal', 'lang="ar" dir="rtl"', 366],
      ],
      async ([size, html, width]) => {
        await visitor.page.setViewportSize({ width: 1000, height: 1600 });
        await open(`start="click" size="${size}"`, 'image', html);
        await visitor.page.addStyleTag({ content: 'main{width:600px}' });
        await box().click();
        await instruction().waitFor();
        const at = (await visitor.page.locator('.box').boundingBox())!;
        const opened = (await dialog().boundingBox())!;
        expect(opened.width).toBe(width);
        expect(opened.y).toBeCloseTo(at.y + at.height + 8, 0);
        if (html.includes('rtl')) expect(opened.x + opened.width).toBeCloseTo(at.x + at.width, 0);
        else expect(opened.x).toBeCloseTo(at.x, 0);
      },
    ));

  test.each([
    ['a desktop', { width: 1280, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
  ])('shows each picture on %s with as many pixels as it is drawn with', async (_name, viewport) => {
    await visitor.page.setViewportSize(viewport);
    await open();
    await box().click();
    await instruction().waitFor();
    const picture = visitor.page.locator('.tile canvas').first();
    const { width, height } = (await picture.boundingBox())!;
    const drawn = await picture.evaluate((node: HTMLCanvasElement) => node.width);
    expect(drawn).toBeGreaterThanOrEqual(100);
    expect(Math.round(width)).toBe(drawn);
    expect(Math.round(height)).toBe(drawn);
  });

  test.each([
    ['320 pixels', { width: 320, height: 640 }],
    ['a window of 1280 by 720 at 200 %', { width: 640, height: 360 }],
    ['a phone on its side', { width: 568, height: 320 }],
  ])('fits %s, with its close button in sight', async (_name, viewport) => {
    await visitor.page.setViewportSize(viewport);
    await open();
    await box().click();
    await instruction().waitFor();
    await button('Use sound instead').scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await dialog().boundingBox())!;
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(viewport.width);
    expect(y + height).toBeLessThanOrEqual(viewport.height);
    expect(await dialog().evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
    expect((await button('Close').boundingBox())!.y).toBeGreaterThanOrEqual(0);
  });

  test('follows its box when the page scrolls and when the window changes', async () => {
    await visitor.page.setViewportSize({ width: 500, height: 1200 });
    await open();
    await visitor.page.addStyleTag({ content: 'body{place-items:start center;height:3000px}h1{margin-top:300px}' });
    await box().click();
    await instruction().waitFor();
    const gap = async (): Promise<number> => {
      const at = (await visitor.page.locator('.box').boundingBox())!;
      return Math.round((await dialog().boundingBox())!.y - at.y - at.height);
    };
    expect(await gap()).toBe(8);
    await visitor.page.evaluate(() => scrollTo(0, 200));
    await expect.poll(gap).toBe(8);
    await visitor.page.setViewportSize({ width: 340, height: 1200 });
    await expect.poll(gap).toBe(8);
  });

  test('has targets of at least 44 pixels', async () => {
    await open();
    await box().click();
    await instruction().waitFor();
    const targets = dialog().locator('button:visible, summary, a');
    for (const target of await targets.all()) {
      const { width, height } = (await target.boundingBox())!;
      expect(Math.min(width, height), await target.innerText()).toBeGreaterThanOrEqual(44);
    }
    expect(await targets.count()).toBeGreaterThanOrEqual(14);
  });

  test('says why it is there, and links the privacy page of the site', async () => {
    server.privacyUrl = '/privacy';
    await open();
    await box().click();
    await visitor.page.getByText('Why am I seeing this?').click();
    await visitor.page.getByText('It does not mean that you did anything wrong.').waitFor();
    const link = visitor.page.getByRole('link', { name: 'Privacy' });
    expect(await link.getAttribute('href')).toBe('/privacy');
    expect(await link.getAttribute('target')).toBe('_blank');
  });

  test('has no link where the site names no privacy page', async () => {
    await open();
    await box().click();
    await instruction().waitFor();
    expect(await visitor.page.getByRole('link').count()).toBe(0);
  });

  test('stays open, busy and in place, while the next one is fetched', async () => {
    await open();
    await box().click();
    await instruction().waitFor();
    let goOn = (): void => undefined;
    await visitor.context.route('**/__protect/challenge', (route) => {
      goOn = () => void route.continue();
    });
    const before = await dialog().boundingBox();
    await button('New task').click();
    await visitor.page.locator('.task[aria-busy=true]').waitFor();
    await expect.poll(() => dialog().boundingBox()).toEqual(before);
    await button('Submit').dispatchEvent('click');
    goOn();
    await visitor.page.locator('.task:not([aria-busy])').waitFor();
    expect(await isFocused(instruction())).toBe(true);
    expect(server.calls.map((call) => call.path)).toEqual(['challenge', 'solution', 'challenge', 'solution']);
    expect(await heard()).toEqual(['open']);
  });

  test('in sound is followed by a new one in sound', async () => {
    await open();
    await box().click();
    await button('Use sound instead').click();
    await visitor.page.locator('.task input').first().waitFor();
    await button('New task').click();
    await expect.poll(challenges).toBe(2);
    await visitor.page.locator('.task:not([aria-busy]) input').first().waitFor();
    const last = server.calls.findLast((call) => call.path === 'challenge');
    expect(last?.body['capabilities']).toMatchObject({ audio: true });
  });

  test('moves nothing for visitors who prefer reduced motion', async () => {
    await open();
    await box().click();
    await instruction().waitFor();
    await button('Picture 1').click();
    expect(await visitor.page.evaluate(() => document.getAnimations().length)).toBe(0);
  });
});

describe('the focus', () => {
  test('goes to the instruction, stays in the dialog, and returns to the box', async () => {
    await open();
    await box().focus();
    await visitor.page.keyboard.press('Space');
    await instruction().waitFor();
    expect(await isFocused(instruction())).toBe(true);
    const visited = new Set<string>();
    for (let press = 0; press < 40; press++) {
      await visitor.page.keyboard.press('Tab');
      visited.add(await focused());
    }
    expect([...visited]).toContain('New task');
    expect([...visited]).not.toContain('Send');
    await visitor.page.keyboard.press('Escape');
    await expect.poll(() => dialog().count()).toBe(0);
    expect(await isFocused(box())).toBe(true);
  });

  test('returns to the button that sent a held form, which can be sent again', async () => {
    await open('start="submit"');
    await send().focus();
    await visitor.page.keyboard.press('Enter');
    await instruction().waitFor();
    await visitor.page.keyboard.press('Escape');
    await expect.poll(() => dialog().count()).toBe(0);
    expect(await isFocused(send())).toBe(true);
    expect(server.submitted).toEqual([]);
    await visitor.page.keyboard.press('Enter');
    await solveImages();
    await visitor.page.waitForURL('**/submit');
    expect(server.submitted).toHaveLength(1);
  });
});

describe('closing the dialog', () => {
  test.each(['Escape', 'Close'] as const)('by %s tells the page once and keeps the task for later', async (how) => {
    await open();
    await visitor.page.evaluate(() => {
      const codes: string[] = [];
      Object.assign(window, { codes, failed: (code: string) => codes.push(code) });
      document.querySelector('gatehouse-widget')!.setAttribute('error-callback', 'failed');
    });
    await box().click();
    await instruction().waitFor();
    if (how === 'Escape') await visitor.page.keyboard.press('Escape');
    else await button('Close').click();
    // The dialog tells that it was closed in an event of its own, after it is gone.
    await expect.poll(heard).toEqual(['open', 'close', 'error cancelled']);
    await visitor.page.getByRole('checkbox', { name: 'Please solve a short task.' }).waitFor();
    expect(await visitor.page.evaluate(() => (window as unknown as { codes: string[] }).codes)).toEqual(['cancelled']);
    await box().click();
    await solveImages();
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
    expect((await heard()).slice(3)).toEqual(['open', 'close', 'verified']);
  });

  test('is also what resetting and removing the widget do, and putting it back opens nothing', async () => {
    await open();
    await box().click();
    await instruction().waitFor();
    await visitor.page.evaluate(() => window.gatehouse!.reset());
    await visitor.page.getByRole('checkbox', { name: 'I am human' }).waitFor();
    expect(await dialog().count()).toBe(0);
    await box().click();
    await instruction().waitFor();
    await visitor.page.evaluate(() => {
      const widget = document.querySelector('gatehouse-widget')!;
      const { parentElement } = widget;
      widget.remove();
      parentElement!.prepend(widget);
    });
    await visitor.page.getByRole('checkbox', { name: 'I am human' }).waitFor();
    expect(await dialog().count()).toBe(0);
    await visitor.page.getByLabel('Name').click();
  });
});

describe('a task that the visitor did not ask for', () => {
  test.each([
    ['the page loads', 'start="load"'],
    ['they use the form', 'start="interaction"'],
  ])('waits at the box when %s, and opens when they choose it', async (_when, attributes) => {
    await open(attributes);
    await visitor.page.getByLabel('Name').focus();
    await visitor.page.getByRole('checkbox', { name: 'Please solve a short task.' }).waitFor();
    expect(await dialog().count()).toBe(0);
    expect(await isFocused(visitor.page.getByLabel('Name'))).toBe(true);
    expect(await visitor.page.locator('gatehouse-widget [role=status]').innerText()).toBe('Please solve a short task.');
    await send().focus();
    await visitor.page.getByLabel('Name').focus();
    expect(challenges()).toBe(1);
    await box().click();
    await solveImages();
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
    expect(await heard()).toEqual(['open', 'close', 'verified']);
  });
});

describe('in invisible mode', () => {
  test('the dialog is in the middle of the window, and the form is sent after the task', async () => {
    await open('size="invisible"');
    await send().click();
    await instruction().waitFor();
    const { width, height } = visitor.page.viewportSize()!;
    const at = (await dialog().boundingBox())!;
    expect(at.x + at.width / 2).toBeCloseTo(width / 2, -1);
    expect(at.y + at.height / 2).toBeCloseTo(height / 2, -1);
    await solveImages();
    await visitor.page.waitForURL('**/submit');
    expect(server.submitted[0]?.has('captcha-response')).toBe(true);
  });

  test('a widget inside something hidden shows its dialog', async () => {
    await open('size="invisible" theme="dark"');
    await visitor.page.addStyleTag({ content: 'gatehouse-widget{display:none}' });
    await send().click();
    await instruction().waitFor();
    expect(await dialog().evaluate((node) => getComputedStyle(node).backgroundColor)).toBe('rgb(29, 35, 48)');
    await solveImages();
    await visitor.page.waitForURL('**/submit');
  });

  test('a failure is shown in the dialog, and after another try the form is sent', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    await open('size="invisible"', 'pow');
    await send().click();
    await visitor.page.getByText('Verification failed').waitFor();
    expect(await isFocused(button('Try again'))).toBe(true);
    expect(await heard()).toEqual(['error refused']);
    await button('Try again').click();
    await visitor.page.waitForURL('**/submit');
    expect(server.submitted).toHaveLength(1);
  });

  test('a visitor who closes the failure can send the form again', async () => {
    server.overrides.push(() => ({ status: 400, body: {} }));
    await open('size="invisible"', 'pow');
    await send().click();
    await button('Try again').waitFor();
    await visitor.page.keyboard.press('Escape');
    await expect.poll(heard).toEqual(['error refused', 'error cancelled']);
    expect(await isFocused(send())).toBe(true);
    expect(server.submitted).toEqual([]);
    await send().click();
    await visitor.page.waitForURL('**/submit');
  });
});
