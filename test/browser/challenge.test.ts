/**
 * A challenged visitor in a real Chromium, through the whole stack: challenge page, proof of work in a worker, one
 * verification, clearance, and the requested page.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually, manage, useStack } from '../support/stack.ts';
import { useVisitor } from '../support/visitor.ts';

const CHALLENGED = 'challenged-by-rule';

const stack = useStack();
// The challenge page is a 403, which Chromium logs as an error.
const visitor = useVisitor({
  context: { userAgent: `Mozilla/5.0 (X11; Linux x86_64) Chrome/153.0 ${CHALLENGED}` },
  expected: (message) => /status of 403/.test(message.text()) && message.location().url === visitor.page.url(),
});

beforeAll(async () => {
  await manage(stack(), '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: CHALLENGED, verdict: 'challenge' }],
  });
  await eventually(
    () => fetch(`${stack().edgeUrl}/`, { headers: { 'user-agent': CHALLENGED } }),
    (response) => response.status === 403,
  );
});

async function hits(path: string): Promise<number> {
  const counted = (await (await fetch(`${stack().originUrl}/hits`)).json()) as Record<string, number>;
  return counted[path] ?? 0;
}

describe('a challenged navigation', () => {
  test('ends on the requested page, with clearance and without an error in the console', async () => {
    const before = await hits('/echo/wanted');
    const first = await visitor.page.goto(`${stack().edgeUrl}/echo/wanted?color=blue`);
    expect(first?.status()).toBe(403);
    expect(await first?.headerValue('x-protect-decision')).toBe('challenge');

    await visitor.page.waitForFunction(() => document.body.innerText.includes('bodySha256'));
    const echoed = JSON.parse(await visitor.page.locator('body').innerText()) as { path: string; query: string };
    expect(echoed).toMatchObject({ path: '/echo/wanted', query: 'color=blue' });
    expect(visitor.page.url()).toBe(`${stack().edgeUrl}/echo/wanted?color=blue`);

    const clearance = (await visitor.context.cookies()).find((cookie) => cookie.name === '__Host-protect-clearance');
    expect(clearance).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax' });
    expect(await hits('/echo/wanted')).toBe(before + 1);
    expect(visitor.complaints).toEqual([]);
  });

  test('ends on a path of two slashes, on the same host', async () => {
    await visitor.page.goto(`${stack().edgeUrl}//echo/a?x=1`);
    // The demo site has no such page.
    await visitor.page.getByRole('heading', { name: 'Not found' }).waitFor();
    expect(visitor.page.url()).toBe(`${stack().edgeUrl}//echo/a?x=1`);
  });

  test('leaves verdicts for the challenge and for the pass', async () => {
    await visitor.page.goto(`${stack().edgeUrl}/echo/logged`);
    await visitor.page.waitForFunction(() => document.body.innerText.includes('bodySha256'));
    const { verdicts } = await eventually(
      () =>
        manage<{ verdicts: { decision: string; source: string }[] }>(stack(), '/protect/verdicts', {
          requestPath: '/echo/logged',
        }),
      (answer) => answer.verdicts.length === 2,
    );
    expect(verdicts.map(({ decision, source }) => `${decision} ${source}`).toSorted()).toEqual([
      'allow clearance',
      'challenge access-rule',
    ]);
  });

  test('also opens a session, for sites whose pages cannot', async () => {
    await visitor.page.goto(`${stack().edgeUrl}/echo/session`);
    await visitor.page.waitForFunction(() => document.body.innerText.includes('bodySha256'));
    const cookies = await visitor.context.cookies();
    expect(cookies.map(({ name }) => name)).toContain('protect_session');
    const answer = await visitor.page.goto(`${stack().edgeUrl}/api/session-of-the-challenge`);
    expect(answer?.status()).not.toBe(401);
    expect(visitor.complaints).toEqual([]);
  });

  test('is not challenged again while the clearance is valid', async () => {
    await visitor.page.goto(`${stack().edgeUrl}/echo/one`);
    await visitor.page.waitForFunction(() => document.body.innerText.includes('bodySha256'));
    const second = await visitor.page.goto(`${stack().edgeUrl}/echo/two`);
    expect(second?.status()).toBe(200);
    expect(await second?.headerValue('x-protect-decision')).toBe('allow');
  });
});

describe('a challenged form', () => {
  test('reaches the origin once, with its body unchanged, after the challenge is solved', async () => {
    const name = 'Ada & Grace=✓';
    const before = await hits('/echo/contact');
    // The page of the form is not protected; its POST is challenged.
    await visitor.page.route(`${stack().edgeUrl}/form`, (route) =>
      route.fulfill({
        contentType: 'text/html; charset=utf-8',
        body: '<form method="post" action="/echo/contact"><input name="name"><button>Send</button></form>',
      }),
    );
    await visitor.page.goto(`${stack().edgeUrl}/form`);
    await visitor.page.fill('input[name=name]', name);
    await visitor.page.click('button');
    await visitor.page.waitForFunction(() => document.body.innerText.includes('bodySha256'));
    const echoed = JSON.parse(await visitor.page.locator('body').innerText()) as { method: string; bodyLength: number };
    expect(echoed.method).toBe('POST');
    expect(echoed.bodyLength).toBe(new URLSearchParams({ name }).toString().length);
    expect(await hits('/echo/contact')).toBe(before + 1);
    expect(visitor.complaints).toEqual([]);
  });
});
