// A stack of its own: a cookie of another state needs a service with other keys.
/**
 * A session that the gate refuses, through the whole stack: visitors who have moved to another network, or whose cookie
 * belongs to another state of the stack, see nothing of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { eventually, startTestStack, useStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const stack = useStack();
const visitor = useVisitor({ context: { userAgent: USER_AGENT } });

/** Calls of the gate's own endpoints, with their status. */
let calls: string[];
beforeEach(() => {
  calls = [];
  visitor.page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (/^\/__protect\/(?:session|telemetry)$/.test(pathname)) calls.push(`${pathname.slice(11)} ${response.status()}`);
  });
});

const isReady = (page: Page): Promise<boolean | undefined> => page.evaluate(() => window.gatehouseProtect?.ready);

async function sessionId(): Promise<string> {
  const cookie = (await visitor.context.cookies()).find(({ name }) => name === 'protect_session');
  return decodeURIComponent(cookie?.value ?? '').split('|')[0]!;
}

/** From now on, every request of the browser comes from this address. */
const moveTo = (address: string): Promise<void> =>
  visitor.context.setExtraHTTPHeaders({ 'x-client-ip': address, 'x-signals-secret': stack().signalsSecret });

/** Sends a form of the page, which is not marked with `data-protect-gate`, and returns the status of what comes. */
async function sendForm(): Promise<number> {
  const [response] = await Promise.all([
    visitor.page.waitForResponse((answer) => answer.url().endsWith('/echo/sent')),
    // Chromium 150 hangs when its context is closed while a page is just being replaced.
    visitor.page.waitForEvent('load'),
    visitor.page.evaluate(() => {
      document.body.insertAdjacentHTML('beforeend', '<form method="post" action="/echo/sent"></form>');
      document.querySelector<HTMLFormElement>('form[action="/echo/sent"]')!.requestSubmit();
    }),
  ]);
  return response.status();
}

/** A report, as of a visitor who uses the page. */
async function report(): Promise<string> {
  await visitor.page.mouse.move(10, 10);
  await visitor.page.mouse.move(40, 60);
  await expect.poll(() => calls.some((call) => call.startsWith('telemetry'))).toBe(true);
  return calls.find((call) => call.startsWith('telemetry'))!;
}

test('the next page from another network, its form and its reports pass', async () => {
  await visitor.page.goto(stack().edgeUrl);
  expect(await isReady(visitor.page)).toBe(true);
  const before = await sessionId();
  await moveTo('203.0.113.7');
  expect((await visitor.page.goto(stack().edgeUrl))?.status()).toBe(200);
  expect(await isReady(visitor.page)).toBe(true);
  expect(await sessionId()).not.toBe(before);
  expect(await report()).toBe('telemetry 202');
  expect(await sendForm()).toBe(200);
});

test('a page that was open when the visitor moved replaces its session at once, and its form passes', async () => {
  await visitor.page.goto(stack().edgeUrl);
  expect(await isReady(visitor.page)).toBe(true);
  const before = await sessionId();
  await visitor.context.setOffline(true);
  await moveTo('203.0.113.7');
  await visitor.context.setOffline(false);
  await eventually(sessionId, (id) => id !== before);
  expect(await report()).toBe('telemetry 202');
  expect(await sendForm()).toBe(200);
});

test('a cookie of another state of the stack is replaced with the first page', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-other-'));
  const other = await startTestStack({ stateDir });
  try {
    await visitor.page.goto(stack().edgeUrl);
    expect(await isReady(visitor.page)).toBe(true);
    const before = await sessionId();
    await visitor.page.goto(other.edgeUrl);
    expect(await isReady(visitor.page)).toBe(true);
    expect(await sessionId()).not.toBe(before);
    calls = [];
    expect(await report()).toBe('telemetry 202');
    expect(await sendForm()).toBe(200);
  } finally {
    await other.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
});
