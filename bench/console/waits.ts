/**
 * What a person waits for in the console: the first view, the first page of a search, and the explanation of a
 * reference. From their act to the frame that shows the result. Beside it, how long the service's response to the one
 * call took, seen by the same browser, which is what the console cannot be faster than.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { madeRecord } from '../workers/log-traffic.ts';
import { exactProcessorMs, workerdPids } from '../measure/processor-time.ts';
import { median, rounded } from '../measure/statistics.ts';
import { mainThreadMs } from './page-processor-time.ts';
import type { Api, FilledStack } from './filled-stack.ts';

const FIRST_VIEW_TARGET_MS = 1000;
const ANSWER_TARGET_MS = 300;

export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;
const CONTEXT = { locale: 'en-US', viewport: { width: 1280, height: 900 } } as const;

export async function newContext(browser: Browser, storageState?: SignedIn): Promise<BrowserContext> {
  return browser.newContext({ ...CONTEXT, ...(storageState === undefined ? {} : { storageState }) });
}

export async function signIn(browser: Browser, signInUrl: string): Promise<SignedIn> {
  const context = await newContext(browser);
  const page = await context.newPage();
  await page.goto(signInUrl);
  await page.getByRole('navigation', { name: 'Console' }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

interface Waited {
  shownMs: number;
  serviceMs: number;
  /** Processor time meanwhile; both processes of the stack count. */
  pageCpuMs: number;
  stackCpuMs: number;
}

type Table = Record<string, object>;

function add(table: Table, name: string, targetMs: number, all: readonly Waited[]): void {
  const middle = (what: keyof Waited) => median(all.map((one) => one[what]));
  const [shown, service] = [middle('shownMs'), middle('serviceMs')];
  table[name] = {
    'median ms': rounded(shown),
    'slowest ms': rounded(Math.max(...all.map(({ shownMs }) => shownMs))),
    'of it the service, ms': rounded(service),
    '× service': rounded(shown / service),
    'page CPU ms': rounded(middle('pageCpuMs')),
    'stack CPU ms': rounded(middle('stackCpuMs')),
    'target ms': targetMs,
    runs: all.length,
  };
}

/** The first visit fetches everything; the second has it in the browser's cache. */
export async function measureFirstView(
  browser: Browser,
  storageState: SignedIn,
  consoleUrl: string,
  runs: number,
): Promise<Table> {
  const measured: [Waited[], Waited[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    const context = await newContext(browser, storageState);
    for (const visit of measured) {
      const page = await context.newPage();
      const stackBefore = stackCpuMs();
      const [pageCpuMs, shownMs] = await mainThreadMs(page, async () => {
        const started = performance.now();
        await page.goto(consoleUrl, { waitUntil: 'commit' });
        await page.locator('.figure b', { hasText: /[1-9]/ }).first().waitFor();
        return performance.now() - started;
      });
      const stackMs = stackCpuMs() - stackBefore;
      visit.push({
        shownMs,
        serviceMs: await serviceMs(page, '/protect/traffic-summary'),
        pageCpuMs,
        stackCpuMs: stackMs,
      });
      await page.close();
    }
    await context.close();
  }
  const table: Table = {};
  add(table, 'first view, first visit', FIRST_VIEW_TARGET_MS, measured[0]);
  add(table, 'first view, second visit', FIRST_VIEW_TARGET_MS, measured[1]);
  return table;
}

/** One search: where it begins, what the person does, and the text that every row of the result has. */
interface Search {
  name: string;
  path: string;
  call: string;
  act: (page: Page) => Promise<void>;
  /** The event that begins the wait. */
  event: 'submit' | 'click';
  /** A selector, and a text that every one of at least one element has. */
  shown: { selector: string; text: string };
}

const ROWS = 'main table tbody tr';

export async function measureSearches(context: BrowserContext, filled: FilledStack, runs: number): Promise<Table> {
  const { stack, api } = filled;
  const { total } = await api<{ total: number }>('/protect/verdicts', { limit: 1 });
  const table: Table = {};
  const page = await context.newPage();
  const names = searches(0, total).map(({ name }) => name);
  for (const [at, name] of names.entries()) {
    const all: Waited[] = [];
    // The first one only warms up.
    for (let run = 0; run <= runs; run++) {
      const waited = await timed(page, stack.consoleUrl, searches(run, total)[at]!);
      if (run > 0) all.push(waited);
    }
    add(table, name, ANSWER_TARGET_MS, all);
  }
  const references = await someReferences(api, runs + 1);
  const explained: Waited[] = [];
  for (const [run, reference] of references.entries()) {
    const waited = await timed(page, stack.consoleUrl, {
      name: 'reference',
      path: '/health',
      call: '/protect/verdicts/explain',
      act: (shown) => submit(shown.getByRole('searchbox'), reference),
      event: 'submit',
      shown: { selector: 'h1', text: 'Why this was' },
    });
    if (run > 0) explained.push(waited);
  }
  add(table, 'a pasted reference: its explanation', ANSWER_TARGET_MS, explained);
  await page.close();
  return table;
}

async function submit(field: ReturnType<Page['locator']>, text: string): Promise<void> {
  await field.fill(text);
  await field.press('Enter');
}

/** Follows a link to a view, as the top lists of the overview have them. */
async function follow(page: Page, view: string, params: Readonly<Record<string, string>>): Promise<void> {
  await page.evaluate(
    (href) => {
      const link = document.createElement('a');
      link.href = href;
      document.body.append(link);
      link.click();
    },
    `/console/${view}?${new URLSearchParams(params).toString()}`,
  );
}

/** Values of a visitor somewhere in the log; another one for each run. */
function searches(run: number, total: number): Search[] {
  const { ip, request_path: path, asn, jti } = madeRecord(Math.floor((total * (run + 1)) / 20), 0);
  const search = (what: string, params: Readonly<Record<string, string>>, text: string): Search => ({
    name: `search by ${what}`,
    path: '/verdicts?range=7d',
    call: 'ip' in params || 'jti' in params ? '/protect/verdicts/search' : '/protect/verdicts',
    act: (page) => follow(page, 'verdicts', { range: '7d', ...params }),
    event: 'click',
    shown: { selector: ROWS, text },
  });
  return [
    search('path', { path }, path),
    search('address', { ip: ip ?? '' }, ip ?? ''),
    search('decision', { decision: 'block' }, 'block'),
    search('network', { asn: String(asn) }, `AS${asn}`),
    search('session', { jti: jti ?? '' }, ip ?? ''),
    {
      name: 'find a user agent',
      path: '/health',
      call: '/protect/verdicts',
      act: (page) => submit(page.getByRole('searchbox'), `Chrome/${200 + run}.0`),
      event: 'submit',
      shown: { selector: 'main p[role=status]', text: 'of the newest 1,000 verdicts' },
    },
  ];
}

async function timed(page: Page, consoleUrl: string, search: Search): Promise<Waited> {
  await page.goto(consoleUrl + search.path);
  await page.locator('h1').waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate(
    ({ event, selector, text }) => {
      performance.clearResourceTimings();
      const begin = () => {
        const started = performance.now();
        const look = () => {
          const found = [...document.querySelectorAll(selector)];
          const isShown = found.length > 0 && found.every((one) => one.textContent.includes(text));
          if (!isShown) requestAnimationFrame(look);
          // The frame after this one has it on the screen.
          else requestAnimationFrame(() => ((window as { shownMs?: number }).shownMs = performance.now() - started));
        };
        look();
      };
      document.addEventListener(event, begin, { capture: true, once: true });
    },
    { event: search.event, ...search.shown },
  );
  const stackBefore = stackCpuMs();
  const [pageCpuMs, shownMs] = await mainThreadMs(page, async () => {
    await search.act(page);
    await page.waitForFunction(() => (window as { shownMs?: number }).shownMs !== undefined);
    return page.evaluate(() => (window as { shownMs?: number }).shownMs!);
  });
  const stackMs = stackCpuMs() - stackBefore;
  return { shownMs, serviceMs: await serviceMs(page, search.call), pageCpuMs, stackCpuMs: stackMs };
}

const stackCpuMs = (): number => exactProcessorMs(workerdPids());

/** How long the newest response of this path took. */
async function serviceMs(page: Page, path: string): Promise<number> {
  return page.evaluate(
    (wanted) =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).findLast(
        ({ name }) => new URL(name).pathname === wanted,
      )?.duration ?? Number.NaN,
    path,
  );
}

/** References of requests all over the week. */
async function someReferences(api: Api, count: number): Promise<string[]> {
  const nowMs = Date.now();
  const references: string[] = [];
  for (let at = 1; at <= count; at++) {
    const until = nowMs - (at * 6 * 86_400_000) / count;
    const { verdicts } = await api<{ verdicts: { request_id: string }[] }>('/protect/verdicts', { until, limit: 1 });
    references.push(verdicts[0]!.request_id);
  }
  return references;
}
