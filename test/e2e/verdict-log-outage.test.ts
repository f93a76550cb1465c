/** The service stops and comes back: visitors notice nothing, and every verdict in between is in the log once. */
import { expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack();
const REQUESTS = 60;

interface Page {
  verdicts: { request_id: string }[];
  total: number;
}

test('verdicts made while the service is down are all in the log once it is back', async () => {
  // The edge loads its ruleset and configuration now; the rest of the test does not need the service for them.
  await (await browse(`${stack().edgeUrl}/api/before`)).text();
  await stack().stopService();
  const requestIds: string[] = [];
  for (let request = 0; request < REQUESTS; request++) {
    const response = await browse(`${stack().edgeUrl}/api/outage/${request}`);
    await response.text();
    requestIds.push(response.headers.get('x-protect-request-id') ?? '');
  }
  // The edge has stopped trying the service: every verdict is in the queue, which cannot deliver it.
  await eventually(
    async () =>
      stack()
        .undelivered()
        .flatMap((message) => (message as { records: object[] }).records).length,
    (queued) => queued >= REQUESTS,
  );
  await stack().startService();
  const page = await eventually(
    () => manage<Page>(stack(), '/protect/verdicts', { requestPath: '/api/outage/*', limit: 1000 }),
    ({ total }) => total >= REQUESTS,
  );
  expect(page.verdicts.map(({ request_id }) => request_id).toSorted()).toEqual(requestIds.toSorted());
});
