/** A link to a json path, as of an export, that is the first thing a visitor opens. They have no session yet. */
import { expect, test } from 'vitest';
import { useStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const stack = useStack();
const visitor = useVisitor({ context: { userAgent: USER_AGENT } });
const text = (): Promise<string> => visitor.page.locator('body').innerText();

test('shows its answer once the browser has opened a session by itself', async () => {
  await visitor.page.goto(`${stack().edgeUrl}/api/time`);
  await expect.poll(text).toContain('{');
  const cookies = await visitor.context.cookies();
  expect(cookies.map(({ name }) => name)).toContain('protect_session');
});

test('shows its answer also where a content blocker blocks the protect script, and so do calls of a page', async () => {
  await visitor.comesAs({ userAgent: USER_AGENT });
  await visitor.page.route('**/__protect/protect.js*', (route) => route.abort('blockedbyclient'));
  await visitor.page.goto(`${stack().edgeUrl}/api/time`);
  await expect.poll(text).toContain('{');
  const names = (await visitor.context.cookies()).map(({ name }) => name);
  expect(names).toContain('__Host-protect-clearance');
  expect(names).not.toContain('protect_session');
  await visitor.page.goto(stack().edgeUrl);
  expect(await visitor.page.evaluate(async () => (await fetch('/api/time')).status)).toBe(200);
});

test('says that it needs JavaScript where the browser runs none', async () => {
  await visitor.comesAs({ userAgent: USER_AGENT, javaScriptEnabled: false });
  const answer = await visitor.page.goto(`${stack().edgeUrl}/api/time`);
  expect(answer?.status()).toBe(401);
  expect(await text()).toContain('requires JavaScript');
});

test('says that it needs cookies where the browser keeps none', async () => {
  await visitor.comesAs({ userAgent: USER_AGENT });
  await visitor.page.addInitScript(() => {
    Object.defineProperty(Navigator.prototype, 'cookieEnabled', { get: () => false });
    Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set() {} });
  });
  await visitor.page.goto(`${stack().edgeUrl}/api/time`);
  await expect.poll(text).toContain('Cookies are switched off');
});
