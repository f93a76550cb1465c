/** The first challenge of a fresh stack, from the rule that asks for it to the page behind it. */
import type { Page } from 'playwright-core';
import type { StackFacts } from '../../src/cli/state.ts';
import { eventually } from './eventually.ts';
import { manage } from './stack.ts';

export const FIRST_VISITOR = 'first-visitor';

/** `page` belongs to a browser that calls itself `FIRST_VISITOR`. */
export async function firstChallenge(stack: StackFacts, page: Page): Promise<void> {
  await manage(stack, '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: FIRST_VISITOR, verdict: 'challenge' }],
  });
  await eventually(
    () => page.goto(`${stack.edgeUrl}/echo/first`),
    (response) => response?.status() === 403,
  );
  await page.waitForFunction(() => document.body.innerText.includes('bodySha256'));
}
