/** Bodies that a Worker refuses without reading: the visitor still gets the response, whatever the size of the body. */
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { useStack } from '../support/stack.ts';

const stack = useStack();

/** Sends the whole body, as a browser does, and returns the status. */
function upload(url: string, headers: Record<string, string>, bytes: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers: { ...headers, 'content-length': String(bytes) } });
    outgoing.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    outgoing.on('error', reject);
    outgoing.end(Buffer.alloc(bytes, 'a'));
  });
}

test.each([1_100_000, 20_000_000])('a body of %i bytes is refused with 413 by the service', async (bytes) => {
  const statuses: (number | undefined)[] = [];
  for (let time = 0; time < 6; time += 1) {
    statuses.push(await upload(`${stack().serviceUrl}/siteverify`, { 'content-type': 'application/json' }, bytes));
  }
  expect(new Set(statuses)).toEqual(new Set([413]));
});

test('an upload by a blocked visitor gets the block response', async () => {
  const { serviceUrl, apiKey, edgeUrl } = stack();
  await fetch(`${serviceUrl}/protect/access-rules/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [{ type: 'userAgent', value: 'uploadbot', verdict: 'block' }] }),
  });
  await expect.poll(() => upload(`${edgeUrl}/echo`, { 'user-agent': 'uploadbot' }, 10)).toBe(403);
  for (let time = 0; time < 6; time += 1) {
    expect(await upload(`${edgeUrl}/echo`, { 'user-agent': 'uploadbot' }, 5_000_000)).toBe(403);
  }
});
