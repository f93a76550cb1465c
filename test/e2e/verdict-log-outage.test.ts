/**
 * The service is down, then back: visitors notice nothing, and every verdict of the time between is
 * in the log, once.
 */
import { expect, test } from 'vitest';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack();
const REQUESTS = 60;
/** Longer would mean that a visitor waited for the log. */
const ANSWER_MAX_MS = 3000;

interface Page {
  verdicts: { request_id: string }[];
  total: number;
}

test('verdicts made while the service is down are all found once it is back', async () => {
  // The edge has its ruleset and config; what follows needs neither.
  await (await fetch(`${stack().edgeUrl}/api/before`)).text();
  await stack().stopService();
  const requestIds: string[] = [];
  for (let request = 0; request < REQUESTS; request++) {
    const started = performance.now();
    const response = await fetch(`${stack().edgeUrl}/api/outage/${request}`);
    await response.text();
    expect(performance.now() - started).toBeLessThan(ANSWER_MAX_MS);
    requestIds.push(response.headers.get('x-protect-request-id') ?? '');
  }
  // Attempts and back-off end, and the batches are in the queue, while there is still nobody to take them.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await stack().startService();
  const page = await eventually(
    () => manage<Page>(stack(), '/protect/verdicts', { requestPath: '/api/outage/*', limit: 1000 }),
    ({ total }) => total >= REQUESTS,
    60_000,
  );
  expect(page.verdicts.map(({ request_id }) => request_id).toSorted()).toEqual(requestIds.toSorted());
}, 120_000);
