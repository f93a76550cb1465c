/** Bodies that a Worker refuses without reading: the visitor still gets the response, whatever the size of the body. */
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { manage, useStack } from '../support/stack.ts';

const PIECE_BYTES = 65_536;

const stack = useStack();

/** Sends the whole body, as a browser does, and returns the status. */
function upload(url: string, headers: Record<string, string>, bytes: number): Promise<number | undefined> {
  return send(url, { ...headers, 'content-length': String(bytes) }, bytes);
}

/** Without a length among the headers, the body goes in chunks. */
function send(url: string, headers: Record<string, string>, bytes: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers });
    outgoing.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    outgoing.on('error', reject);
    // In pieces, as a browser reads them from a file.
    Readable.from(pieces(bytes)).pipe(outgoing);
  });
}

function* pieces(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= PIECE_BYTES) yield Buffer.alloc(Math.min(left, PIECE_BYTES), 'a');
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

test('a body in chunks that is too large to hold is refused with 413 on a challenged path, and the next one passes', async () => {
  const { edgeUrl } = stack();
  await manage(stack(), '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: 'chunkbot', verdict: 'challenge' }],
  });
  const form = { 'user-agent': 'chunkbot', 'content-type': 'application/x-www-form-urlencoded' };
  await expect.poll(() => send(`${edgeUrl}/echo`, form, 10)).toBe(403);
  const statuses: (number | undefined)[] = [];
  for (const bytes of [9_000_000, 20_000_000, 60_000_000, 10, 90_000_000, 9_000_000, 20_000_000]) {
    statuses.push(await send(`${edgeUrl}/echo`, { ...form, 'transfer-encoding': 'chunked' }, bytes));
  }
  expect(statuses).toEqual([413, 413, 413, 403, 413, 413, 413]);
});

test('a body in chunks that passes arrives whole', async () => {
  await manage(stack(), '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: 'trustedbot', verdict: 'allow' }],
  });
  const init = { method: 'POST', headers: { 'user-agent': 'trustedbot' }, duplex: 'half' };
  const sent = async () => {
    const body = new Blob([Buffer.alloc(3_000_000, 'b')]).stream();
    return (await fetch(`${stack().edgeUrl}/echo`, { ...init, body })).text();
  };
  await expect.poll(sent).toContain('"bodyLength":3000000');
});

test('a Cookie in two lines arrives as one', async () => {
  const { port, hostname } = new URL(stack().edgeUrl);
  const headers = ['host', `${hostname}:${port}`, 'Cookie', 'a=1; b=2', 'cookie', 'c=3', 'x-own', '1'];
  const answer = await new Promise<string>((resolve, reject) => {
    const outgoing = request({ host: hostname, port, path: '/echo', headers: [...headers, 'connection', 'close'] });
    outgoing.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
  expect(JSON.parse(answer)).toMatchObject({ headers: { cookie: 'a=1; b=2; c=3' } });
});
