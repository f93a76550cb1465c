/**
 * Browsers that a driver drives from within, by the debugging protocol or WebDriver: Chromium without a window, the same with its
 * traces hidden, and Chromium with one, as it is, with its traces hidden, and started by hand with only a debugging port.
 * Each set has its own variants.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchCarriedChromium } from '../../test/support/chromium.ts';
import { asByHand, clickThrough, dispatch, look, stare, typesEvenly, walk } from './driven-acts.ts';
import type { Act } from './driven-acts.ts';
import type { RecordedClient, RecordedSet } from './clients.ts';
import type { RecordedKind } from './replay.ts';

export const chromeOf = (system: string, major: number): string =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
export const WINDOWS = 'Windows NT 10.0; Win64; x64';
export const MAC = 'Macintosh; Intel Mac OS X 10_15_7';

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

/** The system that a furnished browser claims, other in each set. */
const furnished = {
  tune: { major: 153, system: WINDOWS, platform: 'Windows' },
  report: { major: 152, system: MAC, platform: 'macOS' },
} as const;

/** Its user agent comes from the command line; only the client hints are told to it later. */
function furnishedAs(set: RecordedSet): { options: BrowserContextOptions; prepare: Prepare } {
  const { major, system, platform } = furnished[set];
  return { options: { locale: 'en-US' }, prepare: claim(major, system, platform, furnish).prepare };
}

/**
 * How a browser is started. `carried`: the build without a window. `furnished`: that one, not saying it is driven. `headless`:
 * a full build that is told to show no window. `window`: with one, as drivers start it. `quiet`: the same, not saying that it is
 * driven. `attached`: started as a person starts it, with a debugging port that a driver comes to.
 */
type Start = 'carried' | 'furnished' | 'headless' | 'window' | 'quiet' | 'attached';

interface BrowserVariant {
  kind: RecordedKind;
  start: Start;
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
const english = { options: { locale: 'en-US' } };
const variants: Record<RecordedSet, BrowserVariant[]> = {
  tune: [
    { kind: 'headless', start: 'carried', variant: 'looks at one page', act: look },
    { kind: 'headless', start: 'carried', variant: 'walks through pages', ...english, act: walk },
    { kind: 'headless', start: 'headless', variant: 'full build, fills in and clicks', ...english, act: clickThrough },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'another user agent alone',
      options: { locale: 'en-US', userAgent: chromeOf(WINDOWS, 153) },
      act: look,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'properties overridden',
      options: { locale: 'en-US', userAgent: chromeOf('X11; Linux x86_64', 153) },
      prepare: inject(hideCrudely),
      act: clickThrough,
    },
    { kind: 'stealth', start: 'furnished', variant: 'furnished, by hand', ...furnishedAs('tune'), act: asByHand },
    { kind: 'window', start: 'window', variant: 'looks at one page', ...english, act: look },
    { kind: 'window', start: 'window', variant: 'fills in and clicks', ...english, act: clickThrough },
    { kind: 'window-stealth', start: 'quiet', variant: 'says nothing, clicks', ...english, act: clickThrough },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, as by hand', act: asByHand },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, clicks', act: clickThrough },
  ],
  report: [
    {
      kind: 'headless',
      start: 'carried',
      variant: 'fills in and clicks',
      options: { locale: 'de-DE' },
      act: clickThrough,
    },
    { kind: 'headless', start: 'carried', variant: 'makes events', options: { locale: 'en-GB' }, act: dispatch },
    { kind: 'headless', start: 'carried', variant: 'as by hand', ...english, act: asByHand },
    { kind: 'headless', start: 'headless', variant: 'full build, looks', options: { locale: 'es-ES' }, act: look },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'user agent and property deleted',
      options: { locale: 'fr-FR', userAgent: chromeOf(MAC, 151) },
      prepare: inject(hideByDeleting),
      act: clickThrough,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'properties overridden, looks only',
      options: { locale: 'en-US', userAgent: chromeOf(WINDOWS, 153) },
      prepare: inject(hideCrudely),
      act: walk,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'hints consistent, property overridden',
      ...claim(153, WINDOWS, 'Windows', hideCrudely),
      act: clickThrough,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'hints consistent, property deleted, as by hand',
      ...claim(152, MAC, 'macOS', hideByDeleting),
      act: asByHand,
    },
    {
      kind: 'stealth',
      start: 'furnished',
      variant: 'furnished, by hand, on a Mac',
      ...furnishedAs('report'),
      act: asByHand,
    },
    {
      kind: 'stealth',
      start: 'furnished',
      variant: 'furnished, reads for half a minute',
      ...furnishedAs('report'),
      act: stare,
    },
    { kind: 'window', start: 'window', variant: 'walks through pages', options: { locale: 'de-DE' }, act: walk },
    { kind: 'window', start: 'window', variant: 'makes events', ...english, act: dispatch },
    { kind: 'window', start: 'window', variant: 'as by hand', options: { locale: 'fr-FR' }, act: asByHand },
    { kind: 'window-stealth', start: 'quiet', variant: 'says nothing, as by hand', ...english, act: asByHand },
    {
      kind: 'window-stealth',
      start: 'window',
      variant: 'property deleted, walks',
      prepare: inject(hideByDeleting),
      act: walk,
    },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, types evenly', act: typesEvenly },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, walks', act: walk },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, looks for half a minute', act: stare },
  ],
};

const REPEATS = 3;
const PORT = 22_801;
const STARTS_MS = 20_000;

/** Those with a window need a display and a full Chromium; without them they are left out. */
export function browserClients(set: RecordedSet): RecordedClient[] {
  const full = process.env['GATEHOUSE_CHROMIUM'];
  const canRun = (start: Start): boolean =>
    start === 'carried' ||
    start === 'furnished' ||
    (full !== undefined && (start === 'headless' || process.env['DISPLAY'] !== undefined));
  return variants[set]
    .filter(({ start }) => canRun(start))
    .flatMap((variant) =>
      Array.from({ length: variant.act === stare ? 1 : REPEATS }, (_, time) => ({
        kind: variant.kind,
        variant: variant.variant,
        network: `${variant.kind} ${variant.variant} ${time}`,
        drive: (url: string) => drive(variant, set, full ?? '', url),
      })),
    );
}

async function drive(variant: BrowserVariant, set: RecordedSet, full: string, url: string): Promise<void> {
  const { start, options = {}, prepare, act } = variant;
  if (start === 'attached') return attached(full, url, act);
  const quiet = ['--disable-blink-features=AutomationControlled'];
  const browser = await {
    carried: () => launchCarriedChromium(),
    furnished: () =>
      launchCarriedChromium([...quiet, `--user-agent=${chromeOf(furnished[set].system, furnished[set].major)}`]),
    headless: () => chromium.launch({ executablePath: full, args: ['--no-sandbox'] }),
    window: () => chromium.launch({ executablePath: full, headless: false, args: ['--no-sandbox'] }),
    quiet: () => chromium.launch({ executablePath: full, headless: false, args: ['--no-sandbox', ...quiet] }),
  }[start]();
  try {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    if (prepare) await prepare(context, page);
    await act(page, url);
    await page.goto('about:blank');
  } finally {
    await browser.close();
  }
}

async function attached(full: string, url: string, act: Act): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-risk-'));
  const options = ['--no-sandbox', '--no-first-run', '--no-default-browser-check', '--password-store=basic'];
  const place = [`--user-data-dir=${folder}`, `--remote-debugging-port=${PORT}`];
  const child = spawn(full, [...options, ...place, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'], {
    stdio: 'ignore',
    env: { ...process.env, LANGUAGE: 'en_US' },
    detached: true,
  });
  try {
    const browser = await reached(Date.now() + STARTS_MS);
    const page = browser.contexts()[0]!.pages()[0]!;
    await act(page, url);
    await page.goto('about:blank');
    await browser.close();
  } finally {
    const ended = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    process.kill(-child.pid!, 'SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function reached(until: number): Promise<Browser> {
  try {
    return await chromium.connectOverCDP(`http://127.0.0.1:${PORT}`);
  } catch (error) {
    if (Date.now() > until) throw error;
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    return reached(until);
  }
}
