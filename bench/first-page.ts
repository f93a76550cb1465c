/**
 * What a newcomer's first page costs them: how much later it loads, and how much later its first call of a json path
 * succeeds, because a session has to be earned first. Chromium has one core, and the whole local stack another. In turns,
 * each from a network of its own:
 *
 * - a page without the protect script calls a path that needs no session
 * - a newcomer's page calls a path that needs one: refused first, repeated as soon as there is one
 * - the same visitor loads that page again, with their session
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { launchChromium } from '../test/support/chromium.ts';
import { letThrough } from '../test/support/let-through.ts';
import { MEASURED_CPU, OTHER_CPUS } from './measure/load.ts';
import { median, percentile } from './measure/statistics.ts';

const PORT_BASE = 8894;
const WARM_UP_ROUNDS = 3;
const PROTECT = '<script src="/__protect/protect.js" defer></script>';

const pages = [
  { script: '', path: '/open/time' },
  { script: PROTECT, path: '/api/time' },
] as const;
const names = ['no protect script', 'newcomer', 'with a session'] as const;
type Name = (typeof names)[number];

/** Milliseconds since the navigation began. */
interface Times {
  loaded: number;
  called: number;
}

export async function measureFirstPage(runs: number): Promise<void> {
  const pin = (cpus: string) => spawnSync('taskset', ['-a', '-p', '-c', cpus, String(process.pid)]);
  // Children inherit it: first the browser, then the stack.
  pin(String(MEASURED_CPU));
  const browser = await launchChromium();
  pin(OTHER_CPUS);
  const origin = await startOrigin();
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stack = await startStack({
    portBase: PORT_BASE,
    stateDir,
    quiet: true,
    fresh: true,
    origin: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
    seedChanges: {
      settings: letThrough.settings,
      policy: {
        ...letThrough.policy,
        autoInject: false,
        pathRules: ['/open/**', '/page/**'].map((pattern) => ({ pattern, action: 'allow', waiveSession: true })),
      },
    },
  });
  const measured: Record<Name, Times[]> = { 'no protect script': [], newcomer: [], 'with a session': [] };
  try {
    for (let round = 0; round < WARM_UP_ROUNDS + runs; round++) {
      const [without] = await visits(browser, stack, 0, 1, `10.${round + 1}.0.1`);
      const [newcomer, again] = await visits(browser, stack, 1, 2, `10.${round + 1}.1.1`);
      if (round < WARM_UP_ROUNDS) continue;
      measured['no protect script'].push(without!);
      measured.newcomer.push(newcomer!);
      measured['with a session'].push(again!);
    }
  } finally {
    await browser.close();
    await stack.stop();
    origin.closeAllConnections();
    origin.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
  report(measured);
}

/** A new visitor loads a page some times. */
async function visits(browser: Browser, stack: Stack, index: number, count: number, ip: string): Promise<Times[]> {
  const extraHTTPHeaders = { 'x-signals-secret': stack.signalsSecret, 'x-client-ip': ip, 'x-client-country': 'DE' };
  const context = await browser.newContext({ extraHTTPHeaders });
  const all: Times[] = [];
  try {
    const page = await context.newPage();
    while (all.length < count) {
      await page.goto(`${stack.edgeUrl}/page/${index}`);
      const { status, called, loaded } = await page.evaluate(async () => {
        const first = await (window as unknown as { first: Promise<{ status: number; atMs: number }> }).first;
        const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
        return { status: first.status, called: first.atMs, loaded: navigation?.loadEventStart ?? Number.NaN };
      });
      if (status !== 200) throw new Error(`Page ${index}: the call got ${status}`);
      all.push({ called, loaded });
    }
    return all;
  } finally {
    await context.close();
  }
}

/** The page's own script is deferred as well, so it runs right after the protect script. */
async function startOrigin(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://origin');
    const index = Number(/^\/page\/(\d)$/.exec(pathname)?.[1] ?? Number.NaN);
    const own = /^\/page\/own-(\d)\.js$/.exec(pathname)?.[1];
    const { script, path } = pages[Number(own ?? index) === 0 ? 0 : 1];
    const send = (type: string, body: string) => response.writeHead(200, { 'content-type': type }).end(body);
    if (own !== undefined) {
      const note = '({ status }) => ({ status, atMs: performance.now() })';
      send('text/javascript', `window.first = fetch('${path}').then(${note});`);
    } else if (Number.isNaN(index)) send('application/json', '{"now":1}');
    else {
      const text = '<p>A paragraph of the page.</p>'.repeat(200);
      send(
        'text/html',
        `<!doctype html><title>page</title>${script}<script src="/page/own-${index}.js" defer></script>${text}`,
      );
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

function report(measured: Readonly<Record<Name, readonly Times[]>>): void {
  const base = measured['no protect script'];
  const of = (times: readonly Times[], what: keyof Times) => times.map((one) => one[what]);
  const row = (times: readonly Times[]) => ({
    'page loaded, median ms': median(of(times, 'loaded')).toFixed(0),
    later: (median(of(times, 'loaded')) - median(of(base, 'loaded'))).toFixed(0),
    'first call, median ms': median(of(times, 'called')).toFixed(0),
    'later ': (median(of(times, 'called')) - median(of(base, 'called'))).toFixed(0),
    'p90 ms': percentile(of(times, 'called'), 0.9).toFixed(0),
    runs: String(times.length),
  });
  process.stdout.write(
    'A newcomer’s first page, from the start of the navigation. Chromium has one core of its own.\n',
  );
  console.table(Object.fromEntries(names.map((name) => [name, row(measured[name])])));
  process.stdout.write('Target: a newcomer’s first call at most 150 ms later.\n\n');
}
