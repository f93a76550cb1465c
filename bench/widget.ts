/**
 * `npm run bench -- widget [--runs N]`: the time from the start of a solve to the token, in headless Chromium on one
 * core, beside the widgets of Cap (its RSW, with the same puzzle) and ALTCHA (its default), all from one server. Also
 * the bytes that each sends, and before that what a session costs a newcomer's first page (`first-page.ts`).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createChallenge, randomInt } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import type { Browser } from 'playwright-core';
import { encodeBase64url } from '../src/bytes/base64url.ts';
import { generateRswKey, levelOf } from '../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../src/captcha/pow/rsw-mint.ts';
import { buildClient } from '../scripts/build-client.ts';
import { launchChromium } from '../test/support/chromium.ts';
import { measureFirstPage } from './first-page.ts';
import { median } from './measure/statistics.ts';

const DEFAULT_RUNS = 15;
const ALTCHA_EVERY_ROUNDS = 5;
const DEFAULT_POW_DIFFICULTY = 4;
/** The defaults that ALTCHA documents. */
const ALTCHA_COST = 5000;
const ALTCHA_COUNTER = [5000, 10_000] as const;
/** An empty module. Cap compiles one before any solve, but its RSW does not use it. */
const EMPTY_WASM = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const ALTCHA_SECRET = 'bench-only';

interface Contestant {
  name: string;
  /** The page's markup. `window.solve()` resolves with the token. */
  page: string;
  /** ALTCHA takes seconds for a run, and a few runs show its spread. */
  everyRounds: number;
}

const contestants: readonly Contestant[] = [
  {
    name: 'Gatehouse',
    page: `<script src="/__protect/widget.js"></script><gatehouse-widget sitekey="s" start="click"></gatehouse-widget>
<script>window.solve = () => document.querySelector('gatehouse-widget').execute();</script>`,
    everyRounds: 1,
  },
  {
    name: 'Cap, RSW',
    page: `<script>window.CAP_CUSTOM_WASM_URL = '/cap/empty.wasm';</script><script src="/cap/widget.js"></script>
<cap-widget data-cap-api-endpoint="/cap/"></cap-widget>
<script>window.solve = async () => (await document.querySelector('cap-widget').solve()).token;</script>`,
    everyRounds: 1,
  },
  {
    name: 'ALTCHA, default',
    page: `<script type="module" src="/altcha/widget.js"></script><altcha-widget challenge="/altcha/challenge"></altcha-widget>
<script>window.solve = () => new Promise((resolve) => {
  const widget = document.querySelector('altcha-widget');
  widget.addEventListener('verified', (event) => resolve(event.detail.payload));
  widget.verify();
});</script>`,
    everyRounds: ALTCHA_EVERY_ROUNDS,
  },
];

export async function run(args: readonly string[]): Promise<void> {
  const runs = Number(args[args.indexOf('--runs') + 1] ?? DEFAULT_RUNS) || DEFAULT_RUNS;
  await measureFirstPage(runs);
  // Children inherit this: server and browser share one core, for every contestant alike.
  spawnSync('taskset', ['-a', '-p', '-c', '0', String(process.pid)]);
  const bytes = new Map<string, number>();
  const server = await startServer(bytes);
  const browser = await launchChromium();
  const results = contestants.map(({ name }) => ({ name, times: [] as number[], gzipBytes: 0 }));
  try {
    // In turns, so that a busy moment of the machine affects all of them. Round 0 warms up.
    for (let round = 0; round <= runs; round++) {
      for (const [index, { page, everyRounds }] of contestants.entries()) {
        if (round % everyRounds !== 0) continue;
        bytes.clear();
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?${encodeURIComponent(page)}`;
        const milliseconds = await solveOnce(browser, url);
        const result = results[index];
        if (result === undefined) continue;
        if (round > 0) result.times.push(milliseconds);
        else result.gzipBytes = [...bytes.values()].reduce((sum, size) => sum + size, 0);
      }
    }
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
  report(results);
}

async function solveOnce(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'networkidle' });
    const { token, milliseconds } = await page.evaluate(async () => {
      const startedAt = performance.now();
      const solved = await (window as unknown as { solve(): Promise<string> }).solve();
      return { token: solved, milliseconds: performance.now() - startedAt };
    });
    if (typeof token !== 'string' || token === '') throw new Error('The widget returned no token');
    return milliseconds;
  } finally {
    await context.close();
  }
}

function report(results: readonly { name: string; times: readonly number[]; gzipBytes: number }[]): void {
  const cap = median(results.find(({ name }) => name === 'Cap, RSW')?.times ?? []);
  const table: Record<string, Record<string, string>> = {};
  for (const { name, times, gzipBytes } of results) {
    table[name] = {
      'median ms': median(times).toFixed(0),
      'min–max ms': `${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)}`,
      'max/min': (Math.max(...times) / Math.min(...times)).toFixed(2),
      'ratio to Cap, RSW': (median(times) / cap).toFixed(2),
      'bytes gzipped': String(gzipBytes),
      runs: String(times.length),
    };
  }
  process.stdout.write('From the start of a solve to the token. Headless Chromium and the server share one core.\n');
  console.table(table);
  process.stdout.write(
    'Target: at most 1.30 times Cap’s RSW with the same t, max/min at most 1.30, at most 10,240 bytes.\n',
  );
}

/** One server for all contestants. `bytes` collects the gzipped size of each file that was fetched. */
async function startServer(bytes: Map<string, number>): Promise<Server> {
  const assets = await buildClient();
  const minter = new RswMinter(await generateRswKey(0));
  const files: Record<string, Buffer> = {
    '/cap/widget.js': readFileSync(new URL(import.meta.resolve('@cap.js/widget'))),
    '/altcha/widget.js': readFileSync(new URL('altcha.min.js', import.meta.resolve('altcha'))),
  };
  for (const [name, { body }] of Object.entries(assets)) files[`/__protect/${name}`] = Buffer.from(body);

  async function responseTo(path: string): Promise<object> {
    const { t, x } = minter.mint(levelOf(DEFAULT_POW_DIFFICULTY));
    const expiresAt = Date.now() + 120_000;
    switch (path) {
      case '/__protect/challenge': {
        const pow = { lane: 'rsw', t, n: encodeBase64url(minter.modulus), x: encodeBase64url(x) };
        return { jti: 'j', kind: 'pow', challenge: 'c', expiresAt, pow };
      }
      case '/__protect/solution':
        return { verified: true, token: 'token', expiresAt };
      case '/cap/challenge': {
        const payload = { N: hex(minter.modulus), x: hex(x), t };
        return { format: 2, challenges: [{ protocol: 'rsw', payload }], token: 'c', expires: expiresAt };
      }
      case '/cap/redeem':
        return { success: true, token: 'token', expires: expiresAt };
      case '/altcha/challenge':
        return createChallenge({
          algorithm: 'PBKDF2/SHA-256',
          cost: ALTCHA_COST,
          counter: randomInt(...ALTCHA_COUNTER),
          deriveKey,
          hmacSignatureSecret: ALTCHA_SECRET,
          hmacKeySignatureSecret: ALTCHA_SECRET,
        });
      default:
        return {};
    }
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const file = files[url.pathname];
    const send = (type: string, body: Uint8Array | string): void => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    };
    request.resume();
    if (file !== undefined) {
      bytes.set(url.pathname, gzipSync(file, { level: 9 }).length);
      send('text/javascript', file);
    } else if (url.pathname === '/')
      send(
        'text/html',
        `<!doctype html><html lang="en"><title>bench</title><body>${decodeURIComponent(url.search.slice(1))}`,
      );
    else if (url.pathname.endsWith('.wasm')) send('application/wasm', EMPTY_WASM);
    else void responseTo(url.pathname).then((body) => send('application/json', JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function hex(value: Uint8Array): string {
  return Buffer.from(value).toString('hex');
}
