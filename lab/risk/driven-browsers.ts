/**
 * Browsers that a driver controls from within, by the debugging protocol: Chromium without a window, Chromium with one,
 * both with their traces hidden, and Chromium that was started by hand with a debugging port. Each set has its own
 * variants.
 */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { launchCarriedChromium } from '../../test/support/chromium.ts';
import { besideBrowser, connectToPort, quietChromiumArgs, spawnBrowser } from './browser-process.ts';
import { chromeOf, type RecordedClient, WINDOWS } from './client.ts';
import {
  type Act,
  dispatchesEvents,
  fillsInAndClicks,
  imitatesAHand,
  looks,
  readsForHalfAMinute,
  typesEvenly,
  visitsPages,
  glidesThroughPages,
  worksThroughPages,
} from './driven-acts.ts';
import { isInstalled, type PlaywrightLauncher, stealthyPlaywright } from './npm-tools.ts';
import type { RecordedKind, RecordedSet } from './recording.ts';

/** What the usual evasion scripts do before any page script runs. */
function hideCrudely(): void {
  Object.defineProperty(navigator, 'webdriver', { get: () => undefined });
  Object.defineProperty(navigator, 'languages', { get: () => ['en-US', 'en'] });
  Object.defineProperty(navigator, 'plugins', { get: () => [1, 2, 3] });
  (globalThis as { chrome?: object }).chrome = { runtime: {} };
}
/** As the stealth plugins do it: built-in functions stay what they are, behind proxies. */
function hideByProxy(): void {
  for (const [name, value] of Object.entries({
    languages: ['en-US', 'en'],
    hardwareConcurrency: 8,
    webdriver: false,
  })) {
    const own = Object.getOwnPropertyDescriptor(Navigator.prototype, name)!;
    // oxlint-disable-next-line typescript/unbound-method -- the proxy passes its object on
    const get = new Proxy(own.get!, { apply: (target, self) => (Reflect.apply(target, self, []), value) });
    Object.defineProperty(Navigator.prototype, name, { ...own, get });
  }
}
function hideByDeleting(): void {
  delete (Object.getPrototypeOf(navigator) as { webdriver?: boolean }).webdriver;
  (globalThis as { chrome?: object }).chrome = {};
}
/**
 * Adds what a build with a window has by itself. `webdriver` and the user agent are set when the browser starts: the
 * debugging protocol drops an override while a page unloads, and the page's last report would show it.
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

/** Claims a user agent everywhere: in the header, in client hints and in `userAgentData`. */
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

/** What a furnished browser claims to be. */
const furnished = { major: 153, system: WINDOWS, platform: 'Windows' } as const;
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:148.0) Gecko/20100101 Firefox/148.0';

/** The user agent comes from the command line. Only the client hints are set later. */
function furnishedOnes(): { options: BrowserContextOptions; prepare: Prepare } {
  const { major, system, platform } = furnished;
  return { options: { locale: 'en-US' }, prepare: claim(major, system, platform, furnish).prepare };
}

/**
 * How a browser is started. `carried`: the build without a window from the npm package. `furnished`: the same with the
 * automation flag off. `headless`: a full build without its window. `window`: with its window, as drivers start it.
 * `quiet`: the same with the automation flag off. `attached`: as a person starts it, with a debugging port that a driver
 * connects to. `stealth`, `stealth-window`: a full build with the stealth plugin, without a window and with one.
 */
type Start = 'carried' | 'furnished' | 'headless' | 'window' | 'quiet' | 'attached' | 'stealth' | 'stealth-window';

interface DrivenVariant {
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
const variants: Record<RecordedSet, DrivenVariant[]> = {
  tune: [
    { kind: 'headless', start: 'carried', variant: 'looks at one page', act: looks },
    { kind: 'headless', start: 'carried', variant: 'visits three pages', ...english, act: visitsPages },
    {
      kind: 'headless',
      start: 'headless',
      variant: 'full build, fills in and clicks',
      ...english,
      act: fillsInAndClicks,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'another user agent, nothing else',
      options: { locale: 'en-US', userAgent: chromeOf(WINDOWS, 153) },
      act: looks,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'properties overridden',
      options: { locale: 'en-US', userAgent: chromeOf('X11; Linux x86_64', 153) },
      prepare: inject(hideCrudely),
      act: fillsInAndClicks,
    },
    {
      kind: 'stealth',
      start: 'furnished',
      variant: 'furnished, imitates a hand',
      ...furnishedOnes(),
      act: imitatesAHand,
    },
    { kind: 'window', start: 'window', variant: 'looks at one page', ...english, act: looks },
    { kind: 'window', start: 'window', variant: 'fills in and clicks', ...english, act: fillsInAndClicks },
    {
      kind: 'window-stealth',
      start: 'quiet',
      variant: 'automation flag off, clicks',
      ...english,
      act: fillsInAndClicks,
    },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, imitates a hand', act: imitatesAHand },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, clicks', act: fillsInAndClicks },
    {
      kind: 'window-stealth',
      start: 'quiet',
      variant: 'automation flag off, window’s own size',
      options: { viewport: null },
      act: imitatesAHand,
    },
    {
      kind: 'window-stealth',
      start: 'window',
      variant: 'property deleted, visits three pages',
      prepare: inject(hideByDeleting),
      act: visitsPages,
    },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, types evenly', act: typesEvenly },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, works through pages', act: worksThroughPages },
    { kind: 'window-stealth', start: 'attached', variant: 'attached, glides through pages', act: glidesThroughPages },
    {
      kind: 'window-stealth',
      start: 'quiet',
      variant: 'automation flag off, reads for half a minute',
      options: { viewport: null },
      act: readsForHalfAMinute,
    },
    { kind: 'window-stealth', start: 'stealth-window', variant: 'stealth plugin, clicks', act: fillsInAndClicks },
    { kind: 'stealth', start: 'stealth', variant: 'stealth plugin, visits three pages', act: visitsPages },
    {
      kind: 'stealth',
      start: 'furnished',
      variant: 'Firefox’s name',
      options: { locale: 'en-US', userAgent: FIREFOX },
      act: looks,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'properties behind proxies',
      options: { locale: 'en-US', userAgent: chromeOf('X11; Linux x86_64', 153) },
      prepare: inject(hideByProxy),
      act: fillsInAndClicks,
    },
    {
      kind: 'stealth',
      start: 'carried',
      variant: 'consistent client hints, property overridden',
      ...claim(153, WINDOWS, 'Windows', hideCrudely),
      act: fillsInAndClicks,
    },
  ],
  report: [
    {
      kind: 'headless',
      start: 'carried',
      variant: 'fills in and clicks',
      options: { locale: 'de-DE' },
      act: fillsInAndClicks,
    },
    {
      kind: 'headless',
      start: 'carried',
      variant: 'dispatches events',
      options: { locale: 'en-GB' },
      act: dispatchesEvents,
    },
    { kind: 'headless', start: 'carried', variant: 'imitates a hand', ...english, act: imitatesAHand },
    { kind: 'headless', start: 'headless', variant: 'full build, looks', options: { locale: 'es-ES' }, act: looks },
    { kind: 'window', start: 'window', variant: 'visits three pages', options: { locale: 'de-DE' }, act: visitsPages },
    { kind: 'window', start: 'window', variant: 'dispatches events', ...english, act: dispatchesEvents },
    { kind: 'window', start: 'window', variant: 'imitates a hand', options: { locale: 'fr-FR' }, act: imitatesAHand },
  ],
};

const REPEATS = 2;
const DEBUGGING_PORT = 22_801;
const AUTOMATION_FLAG_OFF = '--disable-blink-features=AutomationControlled';

/** Variants with a window need a display and a full Chromium. Without them they are left out. */
export function drivenClients(set: RecordedSet): RecordedClient[] {
  const fullChromium = process.env['GATEHOUSE_CHROMIUM'];
  const canRun = (start: Start): boolean =>
    start === 'carried' ||
    start === 'furnished' ||
    (fullChromium !== undefined &&
      (start === 'headless' || process.env['DISPLAY'] !== undefined) &&
      (!start.startsWith('stealth') || isInstalled('playwright-extra')));
  return variants[set]
    .filter(({ start }) => canRun(start))
    .flatMap((variant) =>
      Array.from({ length: variant.act === readsForHalfAMinute ? 1 : REPEATS }, (_, time) => ({
        kind: variant.kind,
        variant: variant.variant,
        network: `${variant.kind} ${variant.variant} ${time}`,
        drive: (url: string) => drive(variant, fullChromium ?? '', url),
      })),
    );
}

async function drive(variant: DrivenVariant, fullChromium: string, url: string): Promise<void> {
  const { start, options = {}, prepare, act } = variant;
  if (start === 'attached') return driveAttached(fullChromium, url, act);
  const browser = await launch(start, fullChromium);
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

async function launch(start: Exclude<Start, 'attached'>, fullChromium: string): Promise<Browser> {
  const { system, major } = furnished;
  const full = (headless: boolean, more: readonly string[] = [], launcher: PlaywrightLauncher = chromium) =>
    launcher.launch({ executablePath: fullChromium, headless, args: ['--no-sandbox', ...more] });
  switch (start) {
    case 'carried':
      return launchCarriedChromium();
    case 'furnished':
      return launchCarriedChromium([AUTOMATION_FLAG_OFF, `--user-agent=${chromeOf(system, major)}`]);
    case 'headless':
      return full(true);
    case 'window':
      return full(false);
    case 'quiet':
      return full(false, [AUTOMATION_FLAG_OFF]);
    case 'stealth':
    case 'stealth-window':
      return full(start === 'stealth', [], await stealthyPlaywright(chromium));
  }
}

function driveAttached(fullChromium: string, url: string, act: Act): Promise<void> {
  const start = (folder: string) => {
    const own = [`--user-data-dir=${folder}`, `--remote-debugging-port=${DEBUGGING_PORT}`];
    return spawnBrowser(fullChromium, [...quietChromiumArgs, ...own], { LANGUAGE: 'en_US' });
  };
  return besideBrowser(start, async () => {
    const browser = await connectToPort(DEBUGGING_PORT);
    const page = browser.contexts()[0]!.pages()[0]!;
    await act(page, url);
    await page.goto('about:blank');
    await browser.close();
  });
}
