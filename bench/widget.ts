/**
 * `npm run bench -- widget [--runs N] [--race]`: the time from the start of a solve to the token, in headless Chromium on one
 * core, beside the widgets of Cap (its RSW, with the same puzzle) and ALTCHA (its default), all from one server. Also
 * what each fetches, and before that what a session costs a newcomer's first page (`first-page.ts`), unless `--race`.
 *
 * A run counts when the core was free for it: otherwise the spread is that of other programs. The others are left out
 * and counted.
 */
import { spawnSync } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../test/support/chromium.ts';
import { mainThreadMs } from './console/page-processor-time.ts';
import { measureFirstPage } from './first-page.ts';
import { MEASURED_CPU } from './measure/load.ts';
import { descendantPids, processorMs } from './measure/processor-time.ts';
import { median } from './measure/statistics.ts';
import { type Fetched, gzippedBytes, startServer } from './widget/server.ts';

const DEFAULT_RUNS = 15;
const ALTCHA_EVERY_ROUNDS = 5;
/** Of a run's time, in which the core worked for another program. */
const OTHERS_SHARE_MAX = 0.1;
/** A busy machine disturbs most runs. */
const ROUNDS_PER_RUN_MAX = 3;
/** Caches of code and connections are filled in these. */
const WARM_UP_ROUNDS = 3;

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

interface Visit {
  milliseconds: number;
  /** Of browser, server and this bench together, in steps of 10 ms. */
  cpuMs: number;
  mainThreadMs: number;
  fetched: Fetched;
}

interface Result {
  name: string;
  visits: Visit[];
  disturbed: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { runs: { type: 'string' }, race: { type: 'boolean' } } });
  const runs = Number(values.runs ?? DEFAULT_RUNS);
  if (values.race !== true) await measureFirstPage(runs);
  // Children inherit this: server and browser share one core, for every contestant alike.
  spawnSync('taskset', ['-a', '-p', '-c', String(MEASURED_CPU), String(process.pid)]);
  const fetched: Fetched = [];
  const server = await startServer(fetched);
  const browser = await launchChromium();
  const results: Result[] = contestants.map(({ name }) => ({ name, visits: [], disturbed: 0 }));
  try {
    // In turns, so that a busy moment of the machine affects all of them.
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS_PER_RUN_MAX * runs; round++) {
      for (const [index, { page, everyRounds }] of contestants.entries()) {
        const { visits } = results[index]!;
        const isWarmUp = round < 0;
        if (!isWarmUp && (round % everyRounds !== 0 || visits.length >= Math.ceil(runs / everyRounds))) continue;
        fetched.length = 0;
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?${encodeURIComponent(page)}`;
        const visit = { ...(await solveOnce(browser, url)), fetched: [...fetched] };
        if (isWarmUp) continue;
        if (isDisturbed(visit)) results[index]!.disturbed++;
        else visits.push(visit);
      }
    }
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
  report(results);
}

/** The core was busy, and not with this visit. A widget that waits by itself would be left without any run. */
function isDisturbed({ milliseconds, cpuMs }: Visit): boolean {
  return milliseconds - cpuMs > milliseconds * OTHERS_SHARE_MAX;
}

async function solveOnce(browser: Browser, url: string): Promise<Omit<Visit, 'fetched'>> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'networkidle' });
    const pids = [process.pid, ...descendantPids()];
    const usedMs = processorMs(pids);
    const [threadMs, { token, milliseconds }] = await mainThreadMs(page, () =>
      page.evaluate(async () => {
        const startedAt = performance.now();
        const solved = await (window as unknown as { solve(): Promise<string> }).solve();
        return { token: solved, milliseconds: performance.now() - startedAt };
      }),
    );
    if (typeof token !== 'string' || token === '') throw new Error('The widget returned no token');
    return { milliseconds, cpuMs: processorMs(pids) - usedMs, mainThreadMs: threadMs };
  } finally {
    await context.close();
  }
}

function report(results: readonly Result[]): void {
  const timesOf = ({ visits }: Result): number[] => visits.map(({ milliseconds }) => milliseconds);
  const cap = median(results.filter(({ name }) => name === 'Cap, RSW').flatMap(timesOf));
  const table: Record<string, Record<string, string>> = {};
  const parts: Record<string, Record<string, string>> = {};
  for (const result of results) {
    const times = timesOf(result);
    const of = (value: (visit: Visit) => number): string => median(result.visits.map(value)).toFixed(0);
    const fetched = result.visits[0]?.fetched ?? [];
    const scripts = fetched.filter(({ path }) => /\.(js|wasm)$/.test(path));
    const total = (list: Fetched): string => String(list.reduce((sum, one) => sum + gzippedBytes(one), 0));
    table[result.name] = {
      'median ms': median(times).toFixed(0),
      'min–max ms': `${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)}`,
      'max/min': (Math.max(...times) / Math.min(...times)).toFixed(2),
      'ratio to Cap, RSW': (median(times) / cap).toFixed(2),
      'main thread, CPU ms': of(({ mainThreadMs: ms }) => ms),
      'bytes gzipped': total(scripts),
      runs: String(times.length),
      'left out': String(result.disturbed),
    };
    parts[result.name] = {
      requests: String(fetched.length),
      'scripts, gzipped': scripts.map((one) => `${one.path.split('/').at(-1)} ${gzippedBytes(one)}`).join(', '),
      'answers, gzipped': total(fetched.filter((one) => !scripts.includes(one))),
    };
  }
  process.stdout.write('From the start of a solve to the token. Headless Chromium and the server share one core.\n');
  console.table(table);
  process.stdout.write('What each fetches after the page\n');
  console.table(parts);
  process.stdout.write(
    'Target: at most 1.30 times Cap’s RSW with the same t, max/min at most 1.30, at most 10,240 bytes.\n',
  );
}
