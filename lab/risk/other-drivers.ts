/**
 * Hidden automation of the report set: drivers and plugins that no weight was set by. Puppeteer as it is, with its
 * stealth plugin and with a fork, Selenium with ChromeDriver, and forks of Playwright. Puppeteer with a plain
 * window belongs to the tuning set: a detector was changed by it.
 */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { carriedChromium } from '../../test/support/carried-chromium.ts';
import { besideBrowser, quietChromiumArgs, spawnBrowser, untilStarted } from './browser-process.ts';
import { chromeOf, MAC, type RecordedClient, WINDOWS } from './client.ts';
import {
  type Act,
  fillsInAndClicks,
  glidesThroughPages,
  imitatesAHand,
  visitsPages,
  worksThroughPages,
} from './driven-acts.ts';
import { pause } from './hand.ts';
import * as tools from './npm-tools.ts';
import type { Puppeteer, PuppeteerPage } from './npm-tools.ts';
import type { RecordedKind, RecordedSet } from './recording.ts';

interface OtherVariant {
  kind: RecordedKind;
  /** `report` where it is absent. */
  set?: RecordedSet;
  variant: string;
  needs: string;
  drive(fullChromium: string, url: string): Promise<void>;
}

const AUTOMATION_FLAG_OFF = '--disable-blink-features=AutomationControlled';
const CHROMEDRIVER = '/usr/bin/chromedriver';
const DEBUGGING_PORT = 22_901;
const FIRST_REPORT_MS = 4600;
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15';

type PuppeteerAct = (page: PuppeteerPage, url: string) => Promise<void>;

const looks: PuppeteerAct = async (page, url) => {
  await page.goto(url);
  await pause(FIRST_REPORT_MS);
};
const visits: PuppeteerAct = async (page, url) => {
  for (const path of ['/prices', '/contact']) await looks(page, url + path);
};
const clicks: PuppeteerAct = async (page, url) => {
  await page.goto(url);
  await page.type('#name', 'Somebody', { delay: 60 });
  await page.click('#send');
  await page.click('#name');
  await page.click('#send');
  await pause(FIRST_REPORT_MS);
};
/** Curved and uneven, by a library for that. */
const clicksLikeAHand: PuppeteerAct = async (page, url) => {
  await page.goto(url);
  const cursor = await tools.ghostCursor(page);
  await cursor.click('#name');
  await page.type('#name', 'Somebody', { delay: 110 });
  await cursor.click('#send');
  await pause(FIRST_REPORT_MS);
  await cursor.move('#next');
};

/** Types key by key and clicks, on several pages. */
const clicksThroughPages: PuppeteerAct = async (page, url) => {
  for (const path of ['/form', '/gallery', '/form']) {
    await page.goto(url + path);
    if (path === '/form') await page.type('#name', 'Somebody', { delay: 80 });
    for (let time = 0; time < 3; time++) await page.click(path === '/form' ? '#send' : '#forward');
    await pause(FIRST_REPORT_MS);
    await page.click('#contact');
    await pause(FIRST_REPORT_MS);
  }
};

interface PuppeteerSettings {
  launcher: () => Promise<Puppeteer>;
  headless?: true | 'shell';
  /** The build without a window of the npm package. */
  carried?: true;
  program?: string;
  args?: readonly string[];
  prepare?: (page: PuppeteerPage) => Promise<unknown>;
  act: PuppeteerAct;
}

const byPuppeteer =
  ({ launcher, headless, carried, program, args = [], prepare, act }: PuppeteerSettings) =>
  async (fullChromium: string, url: string): Promise<void> => {
    const build = carried === true ? await carriedChromium() : null;
    const browser = await (
      await launcher()
    ).launch({
      executablePath: build?.executablePath ?? program ?? fullChromium,
      headless: headless ?? false,
      args: ['--no-sandbox', ...args],
      ...(build && { env: build.env }),
    });
    try {
      const page = await browser.newPage();
      await prepare?.(page);
      await act(page, url);
      await page.goto('about:blank');
      await pause(500);
    } finally {
      await browser.close();
    }
  };

/** What scripts to copy say hides a driver. */
function patchTheUsual(): void {
  Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false, configurable: true });
  Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { get: () => 8, configurable: true });
  Object.defineProperty(Navigator.prototype, 'plugins', { get: () => [1, 2, 3, 4, 5], configurable: true });
  (globalThis as { chrome?: object }).chrome ??= { runtime: {} };
}

const byPuppeteerOnOpenBrowser = (load: () => Promise<Puppeteer>) => (fullChromium: string, url: string) =>
  besideOpenBrowser(fullChromium, async () => {
    const browserURL = `http://127.0.0.1:${DEBUGGING_PORT}`;
    const launcher = await load();
    const browser = await untilStarted(() => launcher.connect({ browserURL, defaultViewport: null }).catch(() => null));
    const page = (await browser.pages())[0]!;
    await clicksLikeAHand(page, url);
    await page.goto('about:blank');
    await browser.disconnect();
  });

function besideOpenBrowser(fullChromium: string, visit: () => Promise<void>): Promise<void> {
  const start = (folder: string) => {
    const own = [`--user-data-dir=${folder}`, `--remote-debugging-port=${DEBUGGING_PORT}`];
    return spawnBrowser(fullChromium, [...quietChromiumArgs, ...own], { LANGUAGE: 'en_US' });
  };
  return besideBrowser(start, visit);
}

interface SeleniumSettings {
  args?: readonly string[];
  /** A copy of ChromeDriver without the names that it leaves in pages. */
  renamed?: boolean;
  /** Attaches to a browser that was started by hand. */
  attached?: boolean;
  /** Hides `navigator.webdriver` in each new page. */
  patched?: boolean;
}

const bySelenium =
  ({ args = [], renamed = false, attached = false, patched = false }: SeleniumSettings) =>
  async (fullChromium: string, url: string): Promise<void> => {
    const { Builder, By, chrome } = await tools.selenium();
    const options = new chrome.Options();
    if (attached) options.debuggerAddress(`127.0.0.1:${DEBUGGING_PORT}`);
    else {
      options.setChromeBinaryPath(fullChromium);
      options.addArguments('--no-sandbox', AUTOMATION_FLAG_OFF, ...args);
      options.excludeSwitches('enable-automation');
    }
    const visit = async (): Promise<void> => {
      const service = new chrome.ServiceBuilder(renamed ? renamedChromedriver() : CHROMEDRIVER);
      const builder = new Builder().forBrowser('chrome').setChromeOptions(options).setChromeService(service);
      const driver = await untilStarted(() => builder.build().catch(() => null));
      try {
        if (patched) {
          const source = 'Object.defineProperty(navigator, "webdriver", { get: () => undefined })';
          await driver.sendDevToolsCommand('Page.addScriptToEvaluateOnNewDocument', { source });
        }
        await driver.get(url);
        await (await driver.findElement(By.css('#name'))).sendKeys('Somebody');
        await (await driver.findElement(By.css('#send'))).click();
        await (await driver.findElement(By.css('#name'))).click();
        await pause(FIRST_REPORT_MS);
        await driver.get('about:blank');
        await pause(500);
      } finally {
        await driver.quit();
      }
    };
    await (attached ? besideOpenBrowser(fullChromium, visit) : visit());
  };

/** As undetected-chromedriver does: names of the same length in the program itself. */
function renamedChromedriver(): string {
  const program = join(tmpdir(), 'gatehouse-lab-chromedriver');
  const text = readFileSync(CHROMEDRIVER, 'latin1').replaceAll(/cdc_[a-zA-Z0-9]{22}_/g, (name) =>
    'qwertzuiopasdfghjklyxcvbnmq'.slice(0, name.length),
  );
  writeFileSync(program, text, 'latin1');
  chmodSync(program, 0o755);
  return program;
}

const byFork =
  (name: 'patchright-core' | 'rebrowser-playwright-core', headless: boolean, act: Act, userAgent?: string) =>
  async (fullChromium: string, url: string): Promise<void> => {
    const launcher = await tools.forkOfPlaywright(name);
    const browser = await launcher.launch({
      executablePath: fullChromium,
      headless,
      args: ['--no-sandbox', AUTOMATION_FLAG_OFF],
    });
    try {
      const context = await browser.newContext({ viewport: null, ...(userAgent && { userAgent }) });
      const page = await context.newPage();
      await act(page, url);
      await page.goto('about:blank');
      await pause(500);
    } finally {
      await browser.close();
    }
  };

const claims = (userAgent: string) => (page: PuppeteerPage) => page.setUserAgent({ userAgent });
const plain = { launcher: tools.puppeteer, args: [AUTOMATION_FLAG_OFF] };
const older = tools.olderChromium === undefined ? { carried: true as const } : { program: tools.olderChromium };
const stealthy = { launcher: tools.stealthyPuppeteer };
const forked = { launcher: tools.rebrowserPuppeteer, args: [AUTOMATION_FLAG_OFF] };

const variants: readonly (Omit<OtherVariant, 'kind'> & { windowless?: true })[] = [
  {
    windowless: true,
    variant: 'Puppeteer’s stealth plugin, clicks',
    needs: 'puppeteer-extra',
    drive: byPuppeteer({ ...stealthy, headless: true, act: clicks }),
  },
  {
    windowless: true,
    variant: 'Puppeteer’s stealth plugin on the smaller build, visits pages',
    needs: 'puppeteer-extra',
    drive: byPuppeteer({ ...stealthy, headless: 'shell', carried: true, act: visits }),
  },
  {
    windowless: true,
    variant: 'Puppeteer’s stealth plugin on an old version',
    needs: 'puppeteer-extra',
    drive: byPuppeteer({ ...stealthy, headless: 'shell', ...older, act: looks }),
  },
  {
    windowless: true,
    variant: 'Puppeteer, flag off, Chrome’s name',
    needs: 'puppeteer-core',
    drive: byPuppeteer({ ...plain, headless: true, prepare: claims(chromeOf(WINDOWS, 156)), act: clicksLikeAHand }),
  },
  {
    windowless: true,
    variant: 'Puppeteer, flag off, Safari’s name',
    needs: 'puppeteer-core',
    drive: byPuppeteer({ ...plain, headless: true, prepare: claims(SAFARI), act: looks }),
  },
  {
    windowless: true,
    variant: 'Puppeteer, script patches',
    needs: 'puppeteer-core',
    drive: byPuppeteer({
      ...plain,
      args: [AUTOMATION_FLAG_OFF, `--user-agent=${chromeOf(MAC, 156)}`],
      headless: true,
      prepare: (page) => page.evaluateOnNewDocument(patchTheUsual),
      act: visits,
    }),
  },
  {
    windowless: true,
    variant: 'Selenium, flag off, Chrome’s name',
    needs: 'selenium-webdriver',
    drive: bySelenium({ args: ['--headless=new', `--user-agent=${chromeOf('X11; Linux x86_64', 156)}`] }),
  },
  {
    windowless: true,
    variant: 'rebrowser’s Playwright, Chrome’s name',
    needs: 'rebrowser-playwright-core',
    drive: byFork('rebrowser-playwright-core', true, visitsPages, chromeOf('X11; Linux x86_64', 156)),
  },
  {
    variant: 'Puppeteer’s stealth plugin, clicks like a hand',
    needs: 'puppeteer-extra',
    drive: byPuppeteer({ ...stealthy, act: clicksLikeAHand }),
  },
  {
    variant: 'Puppeteer’s stealth plugin, looks',
    needs: 'puppeteer-extra',
    drive: byPuppeteer({ ...stealthy, act: looks }),
  },
  {
    set: 'tune',
    variant: 'Puppeteer, flag off, clicks',
    needs: 'puppeteer-core',
    drive: byPuppeteer({ ...plain, act: clicks }),
  },
  {
    set: 'tune',
    variant: 'Puppeteer, flag off, clicks like a hand',
    needs: 'puppeteer-core',
    drive: byPuppeteer({ ...plain, act: clicksLikeAHand }),
  },
  {
    variant: 'Puppeteer on an open browser',
    needs: 'puppeteer-core',
    drive: byPuppeteerOnOpenBrowser(tools.puppeteer),
  },
  {
    variant: 'Puppeteer’s stealth plugin on an open browser',
    needs: 'puppeteer-extra',
    drive: byPuppeteerOnOpenBrowser(tools.stealthyPuppeteer),
  },
  { variant: 'Selenium, flag off', needs: 'selenium-webdriver', drive: bySelenium({}) },
  { variant: 'Selenium, patched', needs: 'selenium-webdriver', drive: bySelenium({ patched: true }) },
  { variant: 'Selenium, renamed', needs: 'selenium-webdriver', drive: bySelenium({ renamed: true }) },
  {
    variant: 'Selenium on an open browser',
    needs: 'selenium-webdriver',
    drive: bySelenium({ attached: true, renamed: true }),
  },
  {
    variant: 'rebrowser’s Puppeteer, clicks',
    needs: 'rebrowser-puppeteer-core',
    drive: byPuppeteer({ ...forked, act: clicks }),
  },
  {
    variant: 'rebrowser’s Playwright, clicks',
    needs: 'rebrowser-playwright-core',
    drive: byFork('rebrowser-playwright-core', false, fillsInAndClicks),
  },
  {
    variant: 'Patchright, clicks',
    needs: 'patchright-core',
    drive: byFork('patchright-core', false, fillsInAndClicks),
  },
  {
    variant: 'Patchright, works through pages',
    needs: 'patchright-core',
    drive: byFork('patchright-core', false, worksThroughPages),
  },
  {
    variant: 'Patchright, glides through pages',
    needs: 'patchright-core',
    drive: byFork('patchright-core', false, glidesThroughPages),
  },
  {
    variant: 'rebrowser’s Puppeteer, clicks through pages',
    needs: 'rebrowser-puppeteer-core',
    drive: byPuppeteer({ ...forked, act: clicksThroughPages }),
  },
  {
    variant: 'Patchright, imitates a hand',
    needs: 'patchright-core',
    drive: byFork('patchright-core', false, imitatesAHand),
  },
];

const REPEATS = 2;

export function otherDrivers(wanted: RecordedSet): RecordedClient[] {
  const fullChromium = process.env['GATEHOUSE_CHROMIUM'];
  if (fullChromium === undefined || process.env['DISPLAY'] === undefined) return [];
  return variants
    .filter(({ set = 'report', needs }) => set === wanted && tools.isInstalled(needs))
    .flatMap(({ windowless = false, variant, drive }) =>
      Array.from({ length: REPEATS }, (_, time) => {
        const kind: RecordedKind = windowless ? 'stealth' : 'window-stealth';
        return {
          kind,
          variant,
          network: `${kind} ${variant} ${time}`,
          drive: (url: string) => drive(fullChromium, url),
        };
      }),
    );
}
