/**
 * The challenge page through the whole stack, for visitors that such pages often fail: without scripts, without cookies,
 * with a file to send, going back.
 */
import type { BrowserContextOptions } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { addRules } from '../e2e/edge-visitor.ts';
import { keepNoCookies } from '../support/no-cookies.ts';
import { changeSite, eventually, manage, useStack } from '../support/stack.ts';
import { sharedChromium, USER_AGENT, useVisitor } from '../support/visitor.ts';

const stack = useStack();
const visitor = useVisitor();

beforeAll(async () => {
  await changeSite(stack(), { minimumLevel: 0 });
  await manage(stack(), '/protect/instances/update', {
    id: stack().instanceId,
    pathRules: [
      { pattern: '/echo/guarded/**', action: 'challenge' },
      { pattern: '/echo/form', methods: ['POST'], action: 'challenge' },
      { pattern: '/echo/plain-form', methods: ['POST'], action: 'challenge' },
    ],
  });
  await eventually(
    () => fetch(`${stack().edgeUrl}/echo/guarded/x`),
    (response) => response.status === 403,
  );
});

const visit = (options: BrowserContextOptions = {}): Promise<void> =>
  visitor.comesAs({ userAgent: USER_AGENT, ...options });

async function hits(path: string): Promise<number> {
  const counted = (await (await fetch(`${stack().originUrl}/hits`)).json()) as Record<string, number>;
  return counted[path] ?? 0;
}

describe('without scripts', () => {
  // In parallel, because each waits a dozen seconds.
  test('the page opens by itself, or reports that cookies are off; it never loops', async () => {
    await visit({ javaScriptEnabled: false });
    const bare = await (await sharedChromium()).newContext({ userAgent: USER_AGENT, javaScriptEnabled: false });
    try {
      await keepNoCookies(bare);
      const bareTab = await bare.newPage();
      await visitor.page.goto(`${stack().edgeUrl}/echo/guarded/no-script?a=1`);
      await bareTab.goto(`${stack().edgeUrl}/echo/guarded/nothing`);
      await visitor.page.getByRole('link', { name: 'Continue without scripts' }).waitFor();
      await Promise.all([
        visitor.page.getByText('"/echo/guarded/no-script"').waitFor(),
        bareTab.getByRole('heading', { name: 'Cookies are switched off' }).waitFor(),
      ]);
    } finally {
      await bare.close();
    }
    expect(await hits('/echo/guarded/no-script')).toBe(1);
    expect(await hits('/echo/guarded/nothing')).toBe(0);
  });
});

describe('a form without scripts that is challenged', () => {
  test('is held during the wait, then sent once, by its own button', async () => {
    await visit({ javaScriptEnabled: false });
    const form =
      '<form method="post" action="/echo/plain-form?x=1"><input name="a" value="ü &amp; more"><button>Send</button></form>';
    await visitor.context.route('**/contact', (route) =>
      route.fulfill({ contentType: 'text/html; charset=utf-8', body: form }),
    );
    await visitor.page.goto(`${stack().edgeUrl}/contact`);
    await visitor.page.getByRole('button', { name: 'Send' }).click();
    const goOn = visitor.page.getByRole('button', { name: 'Continue without scripts' });
    await visitor.page.getByRole('heading').waitFor();
    expect(await goOn.isVisible()).toBe(false);
    await goOn.click();
    await visitor.page.getByText('"/echo/plain-form"').waitFor();
    expect(await visitor.page.textContent('body')).toContain('application/x-www-form-urlencoded');
    await visitor.page.reload().catch(() => null);
    expect(await hits('/echo/plain-form')).toBe(1);
  });
});

describe('a visitor who is blocked', () => {
  test('finds in their language what they can change, and the reference of the refused request', async () => {
    await addRules(stack(), { type: 'userAgent', value: 'Refused', verdict: 'block' });
    await visit({ userAgent: 'Refused', locale: 'fr-FR', javaScriptEnabled: false });
    await visitor.page.goto(`${stack().edgeUrl}/echo`);
    const reference = await visitor.page.locator('footer code').textContent();
    await visitor.page.getByRole('link', { name: 'Que puis-je faire' }).click();
    await visitor.page.getByRole('heading', { name: 'Ce que vous pouvez faire' }).waitFor();
    expect(await visitor.page.getByRole('listitem').count()).toBe(4);
    expect(await visitor.page.locator('footer code').textContent()).toBe(reference);
  });
});

describe('with scripts but without cookies', () => {
  test('the page stops after a few passes and shows the reason', async () => {
    await visit();
    await keepNoCookies(visitor.context);
    await visitor.page.goto(`${stack().edgeUrl}/echo/guarded/circle`);
    await visitor.page.getByText('Allow cookies for this site').waitFor();
    expect(await hits('/echo/guarded/circle')).toBe(0);
  });
});

describe('a form with a file that is challenged', () => {
  test('reaches the origin once and complete, and not again when the visitor goes back', async () => {
    await visit();
    await visitor.page.goto(`${stack().edgeUrl}/`);
    const file = Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 31) % 256));
    await visitor.page.evaluate(() => {
      const form = document.createElement('form');
      form.method = 'post';
      form.action = '/echo/form?kept=query';
      form.enctype = 'multipart/form-data';
      const input = Object.assign(document.createElement('input'), { type: 'file', name: 'file' });
      form.append(input);
      document.body.append(form);
    });
    await visitor.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.bin', mimeType: 'application/x-test', buffer: file });
    const address = `${stack().edgeUrl}/echo/form?kept=query`;
    const replayed = visitor.page.waitForResponse(
      (response) => response.url() === address && response.status() === 200,
    );
    await visitor.page.evaluate(() => {
      const form = document.querySelector<HTMLFormElement>('form[action^="/echo/form"]');
      setTimeout(() => form?.submit());
    });
    const answer = await replayed;
    const echoed = (await answer.json()) as { query: string; bodyLength: number; headers: Record<string, string> };
    expect(echoed.query).toBe('kept=query');
    expect(echoed.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(echoed.headers['referer']).toBe(`${stack().edgeUrl}/`);
    expect(echoed.bodyLength).toBeGreaterThan(file.length);
    expect(visitor.page.url()).toBe(address);
    // The browser itself asks before it repeats a POST: what it shows instead runs no script that could.
    await expect(visitor.page.goBack()).rejects.toThrow('ERR_CACHE_MISS');
    expect(await hits('/echo/form')).toBe(1);
  });
});

describe('a visitor with another language on a small screen', () => {
  test('gets the page in Arabic, from right to left, and passes', async () => {
    await visit({ locale: 'ar', viewport: { width: 360, height: 640 } });
    let isFirst = true;
    // The route stays to the end: a request that is on its way while Chromium stops asking about requests gets lost.
    await visitor.context.route('**/__protect/challenge', (route) => {
      if (!isFirst) return route.continue();
      isFirst = false;
      return route.fulfill({ status: 400, body: '{}' });
    });
    await visitor.page.goto(`${stack().edgeUrl}/echo/guarded/arabic`);
    await visitor.page.getByRole('heading', { name: 'لحظة من فضلك' }).waitFor();
    await visitor.page.getByRole('button', { name: 'حاول مجددًا' }).waitFor();
    expect(await visitor.page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByText('"/echo/guarded/arabic"').waitFor();
  });
});
