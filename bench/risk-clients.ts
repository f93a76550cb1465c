/**
 * The clients that `risk-record.ts` drives: Chromium without a window, the same with its traces hidden, curl, scripts, and
 * one that does all it can to pass for a person. Each set has its own variants.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../test/support/chromium.ts';
import { asByHand, clickThrough, dispatch, look, stare, walk } from './risk-acts.ts';
import type { Act } from './risk-acts.ts';
import type { RecordedKind } from './risk-replay.ts';

export interface RecordedClient {
  kind: RecordedKind;
  variant: string;
  network: string;
  drive(url: string): Promise<void>;
  close(): Promise<void>;
}

export type RecordedSet = 'tune' | 'report';

const chromeOf = (system: string, major: number): string =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
const WINDOWS = 'Windows NT 10.0; Win64; x64';
const MAC = 'Macintosh; Intel Mac OS X 10_15_7';

/** What the usual evasion scripts do before any page script runs. */
function hideCrudely(): void {
  Object.defineProperty(navigator, 'webdriver', { get: () => undefined });
  Object.defineProperty(navigator, 'languages', { get: () => ['en-US', 'en'] });
  Object.defineProperty(navigator, 'plugins', { get: () => [1, 2, 3] });
  (globalThis as { chrome?: object }).chrome = { runtime: {} };
}
function hideByDeleting(): void {
  delete (Object.getPrototypeOf(navigator) as { webdriver?: boolean }).webdriver;
  (globalThis as { chrome?: object }).chrome = {};
}
/**
 * What a build with a window has by itself. `webdriver` and the user agent are set at the start of the browser: an
 * override by the debugging protocol is dropped as a page goes away, and the page's last report tells.
 */
function furnish(): void {
  const major = /Chrome\/(\d+)/.exec(navigator.userAgent)?.[1] ?? '';
  const brands = ['Chromium', 'Google Chrome'].map((brand) => ({ brand, version: major }));
  Object.defineProperty(Object.getPrototypeOf(navigator), 'userAgentData', { get: () => ({ brands }) });
  (globalThis as { chrome?: object }).chrome = { app: {}, runtime: {} };
  const plugins = Object.create(PluginArray.prototype, { length: { value: 5 } }) as PluginArray;
  Object.defineProperty(Object.getPrototypeOf(navigator), 'plugins', { get: () => plugins, configurable: true });
}

async function withPage(
  browser: Browser,
  options: BrowserContextOptions,
  prepare: Prepare | null,
  act: Act,
  url: string,
) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  if (prepare) await prepare(context, page);
  await act(page, url);
  await page.goto('about:blank');
  await context.close();
}
type Prepare = (context: BrowserContext, page: Page) => Promise<void>;

/** The user agent everywhere it is told: to the page as it goes away, in client hints and `userAgentData` too. */
function claim(
  major: number,
  system: string,
  platform: string,
  script: () => void,
): { options: BrowserContextOptions; prepare: Prepare } {
  const prepare: Prepare = async (context, page) => {
    await context.addInitScript(script);
    const devtools = await context.newCDPSession(page);
    const version = String(major);
    await devtools.send('Emulation.setUserAgentOverride', {
      userAgent: chromeOf(system, major),
      acceptLanguage: 'en-US',
      userAgentMetadata: {
        brands: ['Chromium', 'Google Chrome'].map((brand) => ({ brand, version })),
        platform,
        platformVersion: '15.0.0',
        architecture: 'x86',
        model: '',
        mobile: false,
      },
    });
  };
  return { options: { userAgent: chromeOf(system, major), locale: 'en-US' }, prepare };
}

/** The system that a person-like browser claims, other in each set. */
const persons = {
  tune: { major: 153, system: WINDOWS, platform: 'Windows' },
  report: { major: 152, system: MAC, platform: 'macOS' },
} as const;

/** Its user agent comes from the command line; only the client hints are told to it later. */
function person(set: RecordedSet): { options: BrowserContextOptions; prepare: Prepare } {
  const { major, system, platform } = persons[set];
  return { options: { locale: 'en-US' }, prepare: claim(major, system, platform, furnish).prepare };
}

interface BrowserVariant {
  sets: RecordedSet[];
  kind: RecordedKind;
  variant: string;
  options?: BrowserContextOptions;
  prepare?: Prepare;
  act: Act;
}

const inject =
  (script: () => void): Prepare =>
  async (context) => {
    await context.addInitScript(script);
  };
const browserVariants: BrowserVariant[] = [
  { sets: ['tune'], kind: 'headless', variant: 'looks at one page', act: look },
  { sets: ['tune'], kind: 'headless', variant: 'walks through pages', options: { locale: 'en-US' }, act: walk },
  {
    sets: ['report'],
    kind: 'headless',
    variant: 'fills in and clicks',
    options: { locale: 'de-DE' },
    act: clickThrough,
  },
  { sets: ['report'], kind: 'headless', variant: 'makes events', options: { locale: 'en-GB' }, act: dispatch },
  { sets: ['report'], kind: 'headless', variant: 'as by hand', options: { locale: 'en-US' }, act: asByHand },
  {
    sets: ['tune'],
    kind: 'stealth',
    variant: 'another user agent alone',
    options: { locale: 'en-US', userAgent: chromeOf(WINDOWS, 153) },
    act: look,
  },
  {
    sets: ['tune'],
    kind: 'stealth',
    variant: 'properties overridden',
    options: { locale: 'en-US', userAgent: chromeOf('X11; Linux x86_64', 153) },
    prepare: inject(hideCrudely),
    act: clickThrough,
  },
  {
    sets: ['report'],
    kind: 'stealth',
    variant: 'user agent and property deleted',
    options: { locale: 'fr-FR', userAgent: chromeOf(MAC, 151) },
    prepare: inject(hideByDeleting),
    act: clickThrough,
  },
  {
    sets: ['report'],
    kind: 'stealth',
    variant: 'properties overridden, looks only',
    options: { locale: 'en-US', userAgent: chromeOf(WINDOWS, 153) },
    prepare: inject(hideCrudely),
    act: walk,
  },
  {
    sets: ['report'],
    kind: 'stealth',
    variant: 'hints consistent, property overridden',
    ...claim(153, WINDOWS, 'Windows', hideCrudely),
    act: clickThrough,
  },
  {
    sets: ['report'],
    kind: 'stealth',
    variant: 'hints consistent, property deleted, as by hand',
    ...claim(152, MAC, 'macOS', hideByDeleting),
    act: asByHand,
  },
  {
    sets: ['tune'],
    kind: 'person-like',
    variant: 'furnished, by hand',
    ...person('tune'),
    act: asByHand,
  },
  {
    sets: ['report'],
    kind: 'person-like',
    variant: 'furnished, by hand, on a Mac',
    ...person('report'),
    act: asByHand,
  },
  {
    sets: ['report'],
    kind: 'person-like',
    variant: 'furnished, reads for half a minute',
    ...person('report'),
    act: stare,
  },
];

const curl = promisify(execFile);
const BORROWED = ['-A', chromeOf(WINDOWS, 153), '-H', 'Accept-Language: en-US,en;q=0.9'];
const METADATA = ['-H', 'Sec-Fetch-Site: same-origin', '-H', 'Sec-Fetch-Mode: cors', '-H', 'Sec-Fetch-Dest: empty'];
const HINTS = '"Chromium";v="153", "Not_A Brand";v="24", "Google Chrome";v="153"';
const curlVariants: { sets: RecordedSet[]; variant: string; headers: string[]; times: number; renews: boolean }[] = [
  { sets: ['tune'], variant: 'as it is', headers: [], times: 1, renews: false },
  { sets: ['tune'], variant: 'browser’s name', headers: BORROWED, times: 1, renews: true },
  {
    sets: ['report'],
    variant: 'browser’s name, old version',
    headers: ['-A', chromeOf(MAC, 120)],
    times: 1,
    renews: true,
  },
  {
    sets: ['report'],
    variant: 'name and metadata, renewed',
    headers: [...BORROWED, ...METADATA],
    times: 1,
    renews: true,
  },
  {
    sets: ['report'],
    variant: 'throws its cookies away',
    headers: [...BORROWED, ...METADATA],
    times: 8,
    renews: false,
  },
];

const postHeaders = { 'content-type': 'application/json' };
const borrowedHeaders = {
  ...postHeaders,
  'user-agent': chromeOf(WINDOWS, 153),
  'accept-language': 'en-US,en;q=0.9',
  'sec-ch-ua': HINTS,
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
};
const invented = {
  v: 1,
  elapsedMs: 5000,
  firstInteractionMs: 900,
  pointerMoves: 150,
  presses: 2,
  keys: 0,
  scrolls: 12,
  untrusted: 0,
  traits: [],
};
const scriptVariants: {
  sets: RecordedSet[];
  variant: string;
  headers: Record<string, string>;
  report: object | null;
}[] = [
  { sets: ['tune'], variant: 'fetch as it is', headers: postHeaders, report: null },
  { sets: ['tune'], variant: 'all headers, no report', headers: borrowedHeaders, report: null },
  {
    sets: ['report'],
    variant: 'all headers, report without sense',
    headers: { ...borrowedHeaders, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
    report: { ...invented, elapsedMs: 10 },
  },
  {
    sets: ['report'],
    variant: 'all headers, plausible report',
    headers: { ...borrowedHeaders, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
    report: invented,
  },
  {
    sets: ['report'],
    variant: 'library’s own name',
    headers: { ...postHeaders, 'user-agent': 'python-requests/2.32.3' },
    report: null,
  },
];

/** When a session that lives on is renewed: before its JWT's five minutes are over. */
const RENEWED_AT_MS = 200_000;

async function driveCurl(url: string, headers: readonly string[], times: number, renews: boolean): Promise<void> {
  const post = (more: readonly string[]) =>
    curl('curl', [
      '-s',
      '-D',
      '-',
      '-o',
      '/dev/null',
      '-X',
      'POST',
      '-d',
      '{}',
      ...headers,
      ...more,
      `${url}/__protect/session`,
    ]);
  for (let time = 0; time < times; time++) {
    const { stdout } = await post(['-H', 'x-recorded-at-ms: 0']);
    const cookie = /set-cookie: ([^;]+)/i.exec(stdout)?.[1] ?? '';
    if (renews) await post(['-H', `Cookie: ${cookie}`, '-H', `x-recorded-at-ms: ${RENEWED_AT_MS}`]);
  }
}

async function driveScript(url: string, headers: Record<string, string>, report: object | null): Promise<void> {
  const at = (milliseconds: number) => ({ ...headers, 'x-recorded-at-ms': String(milliseconds) });
  const opened = await fetch(`${url}/__protect/session`, { method: 'POST', headers: at(0), body: '{}' });
  const cookie = opened.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  if (report !== null) {
    const body = JSON.stringify(report);
    await fetch(`${url}/__protect/telemetry`, { method: 'POST', headers: { ...at(5000), cookie }, body });
  }
  await fetch(`${url}/__protect/session`, { method: 'POST', headers: { ...at(RENEWED_AT_MS), cookie }, body: '{}' });
}

/** Times that each browser variant is driven. */
const REPEATS = 3;

export async function clientsOf(set: RecordedSet): Promise<RecordedClient[]> {
  const browser = await launchChromium();
  // Not "driven" by its own word: what a person's browser says as well.
  const quiet = await launchChromium([
    '--disable-blink-features=AutomationControlled',
    `--user-agent=${chromeOf(persons[set].system, persons[set].major)}`,
  ]);
  const windowed = await launchWindow();
  const close = async (): Promise<void> => {
    for (const one of [browser, quiet, windowed]) await one?.close();
  };
  const inSet = <One extends { sets: RecordedSet[] }>(all: One[]): One[] =>
    all.filter(({ sets }) => sets.includes(set));
  const browsers = inSet(browserVariants).flatMap(({ kind, variant, options = {}, prepare = null, act }) =>
    Array.from({ length: act === stare ? 1 : REPEATS }, (_, time) => ({
      kind,
      variant,
      network: `${kind} ${variant} ${time}`,
      drive: (url: string) => withPage(kind === 'person-like' ? quiet : browser, options, prepare, act, url),
      close,
    })),
  );
  const windows = windowed
    ? [look, clickThrough, asByHand].map((act, index) => ({
        kind: 'window' as const,
        variant: `driven ${index}`,
        network: `window ${index}`,
        drive: (url: string) => withPage(windowed, { locale: 'en-US' }, null, act, url),
        close,
      }))
    : [];
  if (!windowed) process.stdout.write('window: not recorded, there is no DISPLAY with a full GATEHOUSE_CHROMIUM\n');
  const curls = inSet(curlVariants).map(({ variant, headers, times, renews }) => ({
    kind: 'curl' as const,
    variant,
    network: `curl ${variant}`,
    drive: (url: string) => driveCurl(url, headers, times, renews),
    close,
  }));
  const scripts = inSet(scriptVariants).map(({ variant, headers, report }) => ({
    kind: 'script' as const,
    variant,
    network: `script ${variant}`,
    drive: (url: string) => driveScript(url, headers, report),
    close,
  }));
  return [...curls, ...scripts, ...browsers, ...windows];
}

async function launchWindow(): Promise<Browser | null> {
  const executablePath = process.env['GATEHOUSE_CHROMIUM'];
  if (process.env['DISPLAY'] === undefined || executablePath === undefined) return null;
  return chromium.launch({ executablePath, headless: false, args: ['--no-sandbox'] });
}
