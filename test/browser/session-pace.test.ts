/**
 * Visitors who ask for more than a session has for free, through the whole stack: the protect script works in the
 * background, and they see nothing of it.
 */
import { expect, test } from 'vitest';
import { letThrough } from '../support/let-through.ts';
import { useStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const policy = { ...letThrough.policy, pace: { html: 60, json: 600 } };
const stack = useStack({ seedChanges: { ...letThrough, policy } });
const visitor = useVisitor({
  context: { userAgent: USER_AGENT },
  // Chromium logs the calls that were repeated.
  expected: (message) => message.text().includes('403'),
});

const isReady = (): Promise<boolean | undefined> => visitor.page.evaluate(() => window.gatehouseProtect?.ready);
const dialogs = (): Promise<number> => visitor.page.locator('dialog, [role=dialog]').count();

test('an application that asks for eighty answers at once gets them all', async () => {
  await visitor.page.goto(stack().edgeUrl);
  expect(await isReady()).toBe(true);
  const statuses = await visitor.page.evaluate(async () => {
    const asked = Array.from({ length: 80 }, () => fetch('/api/time').then(({ status }) => status));
    return [...new Set(await Promise.all(asked))];
  });
  expect([statuses, await dialogs(), visitor.complaints]).toEqual([[200], 0, []]);
});

test('the same with XMLHttpRequest', async () => {
  await visitor.page.goto(stack().edgeUrl);
  expect(await isReady()).toBe(true);
  const statuses = await visitor.page.evaluate(async () => {
    const ask = () =>
      new Promise<number>((resolve) => {
        const request = new XMLHttpRequest();
        request.open('GET', '/api/time');
        request.addEventListener('loadend', () => resolve(request.status));
        request.send();
      });
    return [...new Set(await Promise.all(Array.from({ length: 80 }, ask)))];
  });
  expect([statuses, await dialogs(), visitor.complaints]).toEqual([[200], 0, []]);
});

test('a visitor who stays for a moment can open fifteen pages at once', async () => {
  const workedAhead = visitor.page.waitForResponse(async (response) => {
    if (!response.url().endsWith('/__protect/session')) return false;
    const answer = (await response.json()) as { jti?: string; work?: object };
    return answer.jti !== undefined && answer.work === undefined;
  });
  await visitor.page.goto(stack().edgeUrl);
  await workedAhead;
  const statuses = await Promise.all(
    Array.from({ length: 15 }, async (_, at) => {
      const page = await visitor.context.newPage();
      return (await page.goto(`${stack().edgeUrl}/?page=${at}`))?.status();
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('a page that is left goes on with its piece of work on the next one', async () => {
  const isSession = (url: string): boolean => url.endsWith('/__protect/session');
  // The first page is left as soon as it is given work.
  await visitor.page.addInitScript(() => {
    if (location.search !== '') return;
    const send = window.fetch;
    window.fetch = async (...request) => {
      const response = await send(...request);
      const text = await response.clone().text();
      if (text.includes('"work"')) {
        sessionStorage.setItem('given', text);
        location.assign('/?next');
      }
      return response;
    };
  });
  const next = visitor.page.waitForRequest(
    (request) => isSession(request.url()) && request.frame().url().includes('next'),
  );
  await visitor.page.goto(stack().edgeUrl);
  const sent = (await next).postDataJSON();
  const given = await visitor.page.evaluate(() => sessionStorage.getItem('given')!);
  const { work } = JSON.parse(given) as { work: { challenge: string } };
  expect(sent).toMatchObject({ challenge: work.challenge, work: true });
});
