/**
 * What an origin receives, byte for byte: the edge sends a request without a body by its headers alone, and they are
 * those of a copy of the request, in the same order and the same letter case.
 */
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { propertySeed } from '../support/properties.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { expectRows } from '../support/rows.ts';

const RUNS = 150;
const ways = ['edge', 'copied'] as const;
type Way = (typeof ways)[number];

let server: Server;
/** Requests as they arrived. */
const received: string[] = [];
const workers = new Map<Way, RawWorker>();

beforeAll(async () => {
  server = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const headersEnd = text.indexOf('\r\n\r\n') + 4;
      if (headersEnd < 4 || !isWhole(text.slice(0, headersEnd), text.slice(headersEnd))) return;
      received.push(text);
      text = '';
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const source = await bundleWorker('test/workerd/edge/to-origin-worker.ts');
  for (const way of ways) {
    const vars = { ORIGIN_URL: origin, WAY: way };
    workers.set(way, await startRawWorker({ source, compatibilityDate: '2026-10-01', vars }));
  }
});
afterAll(async () => {
  for (const worker of workers.values()) await worker.stop();
  server?.close();
});

function isWhole(headers: string, body: string): boolean {
  if (/transfer-encoding: chunked/i.test(headers)) return body.endsWith('0\r\n\r\n');
  return body.length >= Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
}

/** What the origin gets of a request that is sent one of the two ways. */
async function arrives(
  way: Way,
  firstLine: string,
  headers: readonly string[],
  body = '',
): Promise<string | undefined> {
  received.length = 0;
  const { hostname, port } = new URL(workers.get(way)!.url);
  const lines = [firstLine, 'Host: site.test', ...headers, 'Connection: close'];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'),
    );
    socket.on('data', () => undefined);
    socket.once('end', resolve);
    socket.once('error', reject);
  });
  expect(received.length).toBeLessThanOrEqual(1);
  return received[0];
}

async function expectSame(firstLine: string, headers: readonly string[], body = ''): Promise<string> {
  const [byEdge, byCopy] = [
    await arrives('edge', firstLine, headers, body),
    await arrives('copied', firstLine, headers, body),
  ];
  expect(byEdge).toBe(byCopy);
  return byEdge ?? '';
}

const CHROME = [
  'sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile: ?0',
  'sec-ch-ua-platform: "Linux"',
  'Upgrade-Insecure-Requests: 1',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64)',
  'Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
  'Sec-Fetch-Site: none',
  'Sec-Fetch-Mode: navigate',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: de-DE,de;q=0.9',
  'Cookie: a=1; __Host-protect-clearance=x; protect_session=y|z; b=2',
  'Priority: u=0, i',
];

describe('a request by its headers alone arrives as a copied one', () => {
  test('whatever its first line and its headers are', () =>
    expectRows<[string, string, string[]]>(
      [
        ['of a browser', 'GET /page?x=1 HTTP/1.1', CHROME],
        ['with the method HEAD', 'HEAD /page HTTP/1.1', CHROME],
        ['without a header', 'GET / HTTP/1.1', []],
        [
          'with names in any letter case',
          'GET / HTTP/1.1',
          ['X-CuStOm: A', 'aCCept: */*', 'SEC-FETCH-SITE: none', 'zeta: 1', 'Alpha: 2'],
        ],
        [
          'with names twice',
          'GET / HTTP/1.1',
          ['X-Dup: 1', 'x-dup: 2', 'X-DUP: 3, 4', 'Accept: a', 'Accept: b', 'Via: 1.1 x', 'Via: 1.1 y'],
        ],
        ['with two Cookie headers', 'GET / HTTP/1.1', ['Cookie: a=1; protect_session=x', 'Cookie: b=2']],
        ['with only our cookies', 'GET / HTTP/1.1', ['Cookie: __Host-protect-clearance=x; protect_session=y']],
        [
          'with bytes above ASCII',
          'GET / HTTP/1.1',
          ['X-Latin: caf\u00e9 \u00ff\u00a0', 'X-Utf8: \u00c3\u00a9', 'User-Agent: \u00fc'],
        ],
        ['with empty values and spaces', 'GET / HTTP/1.1', ['X-Empty:', 'X-Spaces:   a  b  ', 'X-Tab:\ta\t']],
        [
          'with headers of a connection',
          'GET / HTTP/1.1',
          ['TE: trailers', 'Keep-Alive: timeout=5', 'Proxy-Authorization: x', 'Trailer: x', 'Content-Length: 0'],
        ],
        [
          'with forged headers in odd spellings',
          'GET / HTTP/1.1',
          [
            'X_Protect_Verified: true',
            'CF-Connecting-IP: 1.2.3.4',
            'X-Forwarded-For: 1.2.3.4',
            'Forwarded: for=1.2.3.4',
            'X.Client.Ip: 1.2.3.4',
            'X-Protocol: kept',
          ],
        ],
        [
          'with conditions and a range',
          'GET / HTTP/1.1',
          [
            'If-None-Match: "a", W/"b"',
            'If-Modified-Since: Sun, 22 Nov 2026 00:00:00 GMT',
            'Range: bytes=0-9',
            'Cache-Control: no-cache',
          ],
        ],
        ['with a long header', 'GET / HTTP/1.1', [`X-Long: ${'a'.repeat(7000)}`]],
        ['with a path that is written oddly', "GET /a/../b//c/%2e%2E/d;x=1?q='%zz&%C3 HTTP/1.1", CHROME],
        ['with an announced upgrade', 'GET / HTTP/1.1', ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQ']],
      ],
      async ([, firstLine, headers]) => {
        expect(await expectSame(firstLine, headers)).toContain('x-protect-request-id: the-id');
      },
    ));

  test('with any names and values', async () => {
    const name = fc.oneof(
      fc.constantFrom('accept', 'Accept', 'X-Protect-Decision', 'x-a', 'X-A', 'sec-ch-ua', 'origin', 'Referer', 'dnt'),
      fc.stringMatching(/^[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]{0,20}$/),
    );
    const value = fc.stringMatching(/^[\u0020-\u007e\u00a1-\u00ff]{0,60}$/);
    const skipped = /^(?:host|connection|content-length|transfer-encoding|upgrade|expect)$/i;
    const lines = fc.array(
      fc.tuple(name, value).filter(([one]) => !skipped.test(one)),
      { maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(lines, async (headers) => {
        await expectSame(
          'GET /any HTTP/1.1',
          headers.map(([one, text]) => `${one}: ${text}`),
        );
      }),
      { numRuns: RUNS, seed: propertySeed },
    );
  });
});

describe('what has more than headers is copied', () => {
  test('a GET with a body', async () => {
    const arrived = await expectSame('GET / HTTP/1.1', ['Content-Type: text/plain', 'Content-Length: 5'], 'hello');
    expect(arrived).toMatch(/\r\n\r\nhello$/);
  });

  test('a GET with a body of unknown length', async () => {
    await expectSame('GET / HTTP/1.1', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n');
  });

  test('a POST', async () => {
    const arrived = await expectSame('POST /form HTTP/1.1', [...CHROME, 'Content-Length: 3'], 'a=1');
    expect(arrived).toMatch(/\r\n\r\na=1$/);
  });
});
