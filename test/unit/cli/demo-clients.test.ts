/** The bot's-eye view of the demo shop: what its commands send from a terminal, and when it sends requests. */
import { execFile } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clients, curlCommand, sendAs } from '../../../src/cli/demo/clients.ts';
import { startDemoOrigin } from '../../../src/cli/demo/origin.ts';
import { freePortBase } from '../../support/ports.ts';
import { expectRows } from '../../support/rows.ts';

const seen: unknown[] = [];
/** The gate answers after it. */
let held = Promise.resolve();
const gate = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    seen.push([request.method, request.url, body, ownHeaders(request.headers)]);
    void held.then(() => response.end());
  });
});
let gateUrl: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  gateUrl = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
});
afterAll(() => gate.close());

/** Without what belongs to the connection, and without the version of curl. */
function ownHeaders(headers: IncomingHttpHeaders): [string, unknown][] {
  const others = ['connection', 'host', 'content-length', 'transfer-encoding'];
  return Object.entries(headers)
    .filter(([name]) => !others.includes(name))
    .map(([name, value]): [string, unknown] => [name, String(value).replace(/^curl\/.*/, 'curl')])
    .toSorted(([one], [other]) => one.localeCompare(other));
}

test('the command of each client sends what the view sends', () =>
  expectRows(clients, async (client) => {
    seen.length = 0;
    const once = { ...client, times: 1 };
    await sendAs(once, gateUrl);
    await promisify(execFile)('bash', ['-c', curlCommand(once, gateUrl)]);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
  }));

test('the view sends requests for a form only, and for one client at a time', async () => {
  seen.length = 0;
  const front = { url: gateUrl, consoleUrl: 'http://localhost/console', stateFlag: '' };
  const shop = await startDemoOrigin(await freePortBase(), front);
  const send = (): Promise<Response> =>
    fetch(`${shop.url}/bots`, { method: 'POST', body: new URLSearchParams({ client: 'curl' }) });
  let release = (): void => undefined;
  try {
    expect((await fetch(`${shop.url}/bots?client=curl`)).status).toBe(200);
    expect(seen).toEqual([]);
    held = new Promise((resolve) => (release = resolve));
    const first = send();
    await expect.poll(() => seen.length).toBe(1);
    expect((await send()).status).toBe(503);
    release();
    expect((await first).status).toBe(200);
    expect((await send()).status).toBe(200);
    expect(seen).toHaveLength(2);
  } finally {
    release();
    await shop.close();
  }
});
