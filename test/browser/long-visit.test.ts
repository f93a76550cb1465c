// A stack of its own: its clock is not the machine's.
/**
 * Visitors who come back to a page that was open for forty minutes, through the whole stack. Their session's JWT has long
 * expired, and they see nothing of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { stackNow } from '../support/clock.ts';
import { letThrough } from '../support/let-through.ts';
import { rulesLoaded, startTestStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const AWAY_MS = 40 * 60_000;
/** By then a page has told how it was used. */
const FIRST_MINUTE_MS = 60_000;
const policy = { ...letThrough.policy, pace: { html: 60, json: 600 } };
const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
const visitor = useVisitor({ context: { userAgent: USER_AGENT } });
let stack: Stack | undefined;
let aheadMs = 0;
afterAll(async () => {
  await stack?.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

/** At the same address, so that the open page goes on. */
async function start(): Promise<Stack> {
  const same = stack && { portBase: Number(new URL(stack.edgeUrl).port) };
  await stack?.stop();
  stack = await startTestStack({ stateDir, clockAheadMs: aheadMs, seedChanges: { ...letThrough, policy }, ...same });
  await rulesLoaded(stack);
  return stack;
}

/** A page with a form, whose session has worked ahead. */
beforeEach(async () => {
  const { edgeUrl } = stack ?? (await start());
  await visitor.page.clock.install({ time: stackNow() + aheadMs });
  const workedAhead = visitor.page.waitForResponse(async (response) => {
    if (!response.url().endsWith('/__protect/session')) return false;
    const answer = (await response.json()) as { jti?: string; work?: object };
    return answer.jti !== undefined && answer.work === undefined;
  });
  await visitor.page.goto(edgeUrl);
  await workedAhead;
  await visitor.page.evaluate(() => {
    const form =
      '<form method="post" action="/echo/sent"><textarea name="text"></textarea><button>Send</button></form>';
    document.body.insertAdjacentHTML('afterbegin', form);
  });
  await visitor.page.clock.fastForward(FIRST_MINUTE_MS);
  aheadMs += AWAY_MS;
  await start();
  await visitor.page.clock.fastForward(AWAY_MS - FIRST_MINUTE_MS);
});

const textarea = () => visitor.page.getByRole('textbox').first();

test('somebody who has typed for forty minutes can send the form', async () => {
  const renewed = visitor.page.waitForResponse((response) => response.url().endsWith('/__protect/session'));
  await textarea().pressSequentially('The last words');
  await renewed;
  const sent = visitor.page.waitForResponse((answer) => answer.url().endsWith('/echo/sent'));
  await visitor.page.getByRole('button', { name: 'Send' }).click();
  expect((await sent).status()).toBe(200);
});

test('an application asks for forty answers at once after its laptop has slept, and gets them all', async () => {
  const statuses = await visitor.page.evaluate(async () => {
    const asked = Array.from({ length: 40 }, () => fetch('/api/time').then(({ status }) => status));
    return [...new Set(await Promise.all(asked))];
  });
  expect([statuses, await visitor.page.locator('dialog, [role=dialog]').count()]).toEqual([[200], 0]);
});
