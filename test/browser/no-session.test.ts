/**
 * Visitors whose browser opens no session: it runs no scripts, a blocker stops the gate's scripts, or it keeps no cookies.
 * Their network has two pages left. From the first page to a form, each of them reads what is wrong and what to do.
 */
import type { BrowserContextOptions, Response } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { letThrough } from '../support/let-through.ts';
import { keepNoCookies } from '../support/no-cookies.ts';
import { changeSite, eventually, useStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const policy = { ...letThrough.policy, pendingBudget: 1, pace: { html: 60, json: 600 } };
const stack = useStack({ seedChanges: { ...letThrough, policy } });
const visitor = useVisitor();
let networks = 0;

/** From a network of their own. */
function comesAs(options: BrowserContextOptions = {}): Promise<void> {
  const extraHTTPHeaders = signalsOf(stack(), { from: `10.77.${++networks}.1`, country: 'DE', asn: '64496' });
  return visitor.comesAs({ userAgent: USER_AGENT, extraHTTPHeaders, ...options });
}

const open = (path: string): Promise<Response | null> => visitor.page.goto(stack().edgeUrl + path);

const text = (): Promise<string> => visitor.page.locator('body').innerText();

/** The statuses of so many pages. */
async function openPages(count: number): Promise<(number | undefined)[]> {
  const statuses: (number | undefined)[] = [];
  for (let page = 0; page < count; page++) statuses.push((await open(`/echo/page?${page}`))?.status());
  return statuses;
}

async function sendForm(): Promise<void> {
  const form = '<form method="post" action="/echo/form"><input name="a" value="b"><button>Send</button></form>';
  await visitor.context.route('**/contact', (route) => route.fulfill({ contentType: 'text/html', body: form }));
  await open('/contact');
  await visitor.page.getByRole('button', { name: 'Send' }).click();
}

async function isSent(): Promise<boolean> {
  const counted = (await (await fetch(`${stack().originUrl}/hits`)).json()) as Record<string, number>;
  return (counted['/echo/form'] ?? 0) > 0;
}

/** The gate's answer to a call of the page. */
const called = (): Promise<{ status: number; body: string }> =>
  visitor.page.evaluate(async () => {
    const answer = await fetch('/api/time');
    return { status: answer.status, body: await answer.text() };
  });

describe('without JavaScript', () => {
  test('pages and forms end with what to switch on, and pages with when there are more', async () => {
    await comesAs({ javaScriptEnabled: false });
    expect(await openPages(3)).toEqual([200, 200, 200]);
    const refused = await open('/echo/page?3');
    expect([refused?.status(), refused?.headers()['retry-after']]).toEqual([403, '600']);
    await visitor.page.getByRole('heading', { name: 'Turn on JavaScript, then reload the page.' }).waitFor();
    // Playwright finds no text in a noscript element.
    expect(await text()).toContain('open two pages again in ten minutes');
    expect(await text()).not.toContain('was blocked');

    await sendForm();
    await visitor.page.getByRole('heading', { name: 'Turn on JavaScript, then reload the page.' }).waitFor();
    expect(await text()).not.toContain('ten minutes');
    expect(await isSent()).toBe(false);
  });

  test('one wait is good for the next pages and a form, where the site lets visitors wait', async () => {
    await changeSite(stack(), { minimumLevel: 0 });
    await comesAs({ javaScriptEnabled: false });
    await openPages(3);
    const offered = visitor.page.getByRole('link', { name: 'Continue without scripts' });
    await eventually(
      () => open('/echo/page?3').then(() => offered.count()),
      (count) => count === 1,
    );
    await visitor.page.getByText('"/echo/page"').waitFor();
    expect(await openPages(8)).toEqual(Array.from({ length: 8 }, () => 200));
    await sendForm();
    await visitor.page.getByText('"/echo/form"').waitFor();
    await changeSite(stack(), { minimumLevel: 1 });
  });
});

describe('with a blocker that stops', () => {
  test('the protect script, pages, forms and calls go on after work that nobody sees', async () => {
    await comesAs();
    await visitor.page.route('**/__protect/protect.js*', (route) => route.abort('blockedbyclient'));
    for (let page = 0; page < 6; page++) {
      await open(`/echo/page?${page}`);
      await visitor.page.getByText('"/echo/page"').waitFor();
    }
    await sendForm();
    await visitor.page.getByText('"/echo/form"').waitFor();
    expect(await isSent()).toBe(true);
  });

  test('the protect script, a call past the clearance says that it was blocked', async () => {
    await comesAs();
    await visitor.page.route('**/__protect/protect.js*', (route) => route.abort('blockedbyclient'));
    await open('/api/time');
    await visitor.page.getByText('{').waitFor();
    await open('/');
    const answers = await eventually(called, ({ status }) => status === 401);
    expect(answers.body).toContain('its script was blocked');
  });

  test('the protect script, a challenge that fails says so as well', async () => {
    await comesAs();
    await visitor.page.route('**/__protect/protect.js*', (route) => route.abort('blockedbyclient'));
    await openPages(3);
    await visitor.page.route('**/__protect/challenge', (route) => route.fulfill({ status: 400, body: '{}' }));
    await open('/echo/page?3');
    await visitor.page.getByRole('button', { name: 'Try again' }).waitFor();
    await visitor.page.getByText('A script of this site was blocked').waitFor();
  });

  test('all scripts of the gate, the challenge says that one was blocked', async () => {
    await comesAs();
    await visitor.page.route('**/__protect/*.js*', (route) => route.abort('blockedbyclient'));
    await openPages(3);
    await open('/echo/page?3');
    await visitor.page.getByText('A script of this site was blocked').waitFor();
    await sendForm();
    await visitor.page.getByText('A script of this site was blocked').waitFor();
  });
});

describe('without cookies', () => {
  test('pages, forms and calls end with words about cookies', async () => {
    await comesAs();
    await keepNoCookies(visitor.context);
    const devtools = await visitor.context.newCDPSession(visitor.page);
    await devtools.send('Emulation.setDocumentCookieDisabled', { disabled: true });
    await open('/echo/page');
    const refused = await called();
    expect([refused.status, refused.body]).toEqual([401, expect.stringContaining('with JavaScript and cookies')]);
    await openPages(3);
    await visitor.page.getByText('Allow cookies for this site').waitFor();
    await sendForm();
    await visitor.page.getByText('Allow cookies for this site').waitFor();
    expect(await called()).toMatchObject({ status: 401, body: expect.stringContaining('with JavaScript and cookies') });
  });
});
