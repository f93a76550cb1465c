/**
 * Browsers with a window that nothing drives from within: no debugging port, no driver. A `Hand` works them through the X display,
 * as the nearest to a person that one machine can do (`person-like`), or as desktop automation does (`os-input`). Debian's
 * packages chromium, firefox-esr and surf (WebKit); what is not installed is left out.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import type { RecordedClient, RecordedSet } from './clients.ts';
import * as acts from './hand-acts.ts';
import type { HandAct } from './hand-acts.ts';
import { Hand, onScreen, pause } from './hand.ts';
import type { Look } from './hand.ts';
import type { RecordedKind } from './replay.ts';

export interface WindowVariant {
  sets: RecordedSet[];
  kind: RecordedKind;
  variant: string;
  act: HandAct;
  browser?: 'chromium' | 'firefox' | 'webkit';
  size?: readonly [number, number];
  language?: string;
  args?: readonly string[];
  /** Of Chromium a JSON file, of Firefox lines of `user.js`. */
  preferences?: string;
  /** Pixels of the screen in one of the page, where the browser does not say it. */
  scale?: number;
  /** A phone as the browser's own developer tools show one: it is told by its real mouse. */
  phone?: boolean;
}

const tune: Omit<WindowVariant, 'sets' | 'kind'>[] = [
  { variant: 'reads and scrolls', act: acts.readsAndScrolls },
  { variant: 'reads by the wheel alone', act: acts.readsByWheelAlone, size: [1500, 900] },
  { variant: 'fills in a form, in German', act: acts.fillsIn, language: 'de', size: [1440, 860] },
  { variant: 'walks through pages, in French', act: acts.walks, language: 'fr', size: [1100, 720] },
  { variant: 'keyboard alone', act: acts.keyboardAlone, size: [1366, 768] },
  { variant: 'clicks on without moving', act: acts.clicksOn },
  { variant: 'a password manager types', act: acts.passwordIsTyped },
  { variant: 'only looks, beside a library’s events', act: acts.onlyLooks },
  { variant: 'at once and a half the size', act: acts.fillsIn, args: ['--force-device-scale-factor=1.5'] },
  { variant: 'in full screen', act: acts.readsAndScrolls, args: ['--start-fullscreen'] },
  {
    variant: 'PDF files are downloaded',
    act: acts.walksAndReturns,
    preferences: '{"plugins":{"always_open_pdf_externally":true}}',
  },
  { variant: 'a phone taps', act: acts.taps, phone: true },
  { variant: 'Firefox fills in a form', act: acts.fillsIn, browser: 'firefox' },
  { variant: 'WebKit reads and scrolls', act: acts.readsAndScrolls, browser: 'webkit' },
];
const report: Omit<WindowVariant, 'sets' | 'kind'>[] = [
  { variant: 'marks text, in British English', act: acts.clicksTwiceAndDrags, language: 'en_GB', size: [1440, 880] },
  { variant: 'fills in quickly, in Spanish', act: acts.fillsInQuickly, language: 'es', size: [1120, 760] },
  { variant: 'walks and returns, in Japanese', act: acts.walksAndReturns, language: 'ja', size: [1360, 740] },
  { variant: 'pages by the keyboard', act: acts.pagesByKeyboard, size: [1024, 768] },
  { variant: 'clicks on, in a small window', act: acts.clicksOn, size: [520, 700] },
  { variant: 'in a private window', act: acts.fillsIn, args: ['--incognito'], size: [1250, 900] },
  { variant: 'at once and a quarter the size', act: acts.walks, args: ['--force-device-scale-factor=1.25'] },
  { variant: 'a kiosk', act: acts.fillsInQuickly, args: ['--kiosk'] },
  { variant: 'comes from behind another tab', act: acts.comesFromBehind },
  { variant: 'glances', act: acts.glances, language: 'it' },
  {
    variant: 'PDF files are downloaded, only looks',
    act: acts.onlyLooks,
    preferences: '{"plugins":{"always_open_pdf_externally":true}}',
  },
  { variant: 'a phone taps through', act: acts.tapsThrough, phone: true },
  { variant: 'Firefox walks', act: acts.walks, browser: 'firefox' },
  {
    variant: 'Firefox that resists fingerprinting',
    act: acts.fillsIn,
    browser: 'firefox',
    preferences: 'user_pref("privacy.resistFingerprinting", true);',
    scale: 1,
  },
  { variant: 'WebKit fills in', act: acts.fillsInQuickly, browser: 'webkit' },
];
const tools: Omit<WindowVariant, 'kind'>[] = [
  { sets: ['tune'], variant: 'jumps and types', act: acts.toolJumps },
  { sets: ['report'], variant: 'glides and types', act: acts.toolGlides },
];
const variants: WindowVariant[] = [
  ...tune.map((one) => ({ ...one, sets: ['tune' as const], kind: 'person-like' as const })),
  ...report.map((one) => ({ ...one, sets: ['report' as const], kind: 'person-like' as const })),
  ...tools.map((one) => ({ ...one, kind: 'os-input' as const })),
];

const programs = { firefox: '/usr/bin/firefox-esr', webkit: '/usr/bin/surf' } as const;
const REPEATS = 2;
/** Until a browser has started and drawn its first page, on a busy machine too. */
const STARTS_MS = 40_000;
/** The next address is there and the last report sent, on a busy machine too. */
const LAST_REPORT_MS = 3000;
/** Recorders that share the work take one each. */
const phonePort = 22_700 + Math.floor(Math.random() * 100);
const PHONE = {
  userAgent:
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/MAJOR.0.0.0 Mobile Safari/537.36',
};

/** Page after page in a browser of its own, with a fresh profile. */
export function windowClients(set: RecordedSet, look: Look): RecordedClient[] {
  const full = process.env['GATEHOUSE_CHROMIUM'];
  if (process.env['DISPLAY'] === undefined || full === undefined) return [];
  return variants
    .filter(({ sets }) => sets.includes(set))
    .filter(({ browser }) => browser === undefined || browser === 'chromium' || existsSync(programs[browser]))
    .flatMap((variant) =>
      Array.from({ length: variant.act === acts.onlyLooks ? 1 : REPEATS }, (_, time) => ({
        kind: variant.kind,
        variant: variant.variant,
        network: `${variant.kind} ${variant.variant} ${time}`,
        drive: (url: string) => work(variant, full, url, look),
        close: () => Promise.resolve(),
      })),
    );
}

async function work(variant: WindowVariant, full: string, url: string, told: Look): Promise<void> {
  const look: Look = () => {
    const seen = told();
    return seen === null ? null : { ...seen, scale: variant.scale ?? seen.scale };
  };
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-risk-'));
  const { act, phone = false } = variant;
  const place: [number, number] = phone ? [260, 420] : [500, 450];
  await onScreen([`mousemove ${place[0]} ${place[1]}`]);
  const child = start(variant, full, folder, phone ? 'about:blank' : url + act.path);
  let emulator: Browser | null = null;
  try {
    if (phone) emulator = await asPhone(url + act.path);
    await until(() => look() !== null);
    await pause(700);
    const hand = new Hand(look, place);
    await act.does({ hand, look });
    await leave(variant.browser ?? 'chromium');
  } finally {
    await emulator?.close();
    await stop(child);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function start(variant: WindowVariant, full: string, folder: string, address: string): ChildProcess {
  const { browser = 'chromium', size = [1280, 800], language = 'en_US', args = [], preferences } = variant;
  const env = { ...process.env, LANGUAGE: language, LANG: `${language}.UTF-8`, HOME: folder };
  const [width, height] = size;
  if (browser === 'firefox') {
    const quiet = [
      ['browser.aboutwelcome.enabled', false],
      ['browser.shell.checkDefaultBrowser', false],
      ['datareporting.policy.dataSubmissionPolicyBypassNotification', true],
      ['termsofuse.bypassNotification', true],
      // Nothing but this machine is asked.
      ['network.proxy.type', 1],
      ['network.proxy.http', '127.0.0.1'],
      ['network.proxy.http_port', 9],
      ['network.proxy.ssl', '127.0.0.1'],
      ['network.proxy.ssl_port', 9],
    ].map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    writeFileSync(join(folder, 'user.js'), [...quiet, preferences ?? ''].join('\n'));
    const options = ['--profile', folder, '--no-remote', '--width', String(width), '--height', String(height)];
    return spawn(programs.firefox, [...options, address], { env, stdio: 'ignore', detached: true });
  }
  if (browser === 'webkit') return spawn(programs.webkit, [address], { env, stdio: 'ignore', detached: true });
  mkdirSync(join(folder, 'Default'));
  if (preferences !== undefined) writeFileSync(join(folder, 'Default', 'Preferences'), preferences);
  const options = [
    '--no-sandbox',
    '--no-first-run',
    '--no-default-browser-check',
    '--password-store=basic',
    '--disable-search-engine-choice-screen',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    `--user-data-dir=${folder}`,
    `--window-size=${width},${height}`,
    `--window-position=${Math.floor(Math.random() * 60)},${Math.floor(Math.random() * 40)}`,
    ...(variant.phone ? [`--remote-debugging-port=${phonePort}`] : []),
    ...args,
  ];
  return spawn(full, [...options, address], { env, stdio: 'ignore', detached: true });
}

/** Shows the page as a phone's, and makes touches of the real mouse's clicks: what the developer tools' device mode does. */
async function asPhone(address: string): Promise<Browser> {
  let browser: Browser | null = null;
  await until(async () => {
    browser = await chromium.connectOverCDP(`http://127.0.0.1:${phonePort}`).catch(() => null);
    return browser !== null;
  });
  const page = browser!.contexts()[0]!.pages()[0]!;
  const devtools = await page.context().newCDPSession(page);
  const major = browser!.version().split('.', 1)[0]!;
  const brands = ['Chromium', 'Google Chrome'].map((brand) => ({ brand, version: major }));
  await devtools.send('Emulation.setUserAgentOverride', {
    userAgent: PHONE.userAgent.replace('MAJOR', major),
    userAgentMetadata: {
      brands,
      platform: 'Android',
      platformVersion: '10',
      architecture: '',
      model: 'K',
      mobile: true,
    },
  });
  await devtools.send('Emulation.setDeviceMetricsOverride', {
    width: 412,
    height: 600,
    deviceScaleFactor: 0,
    mobile: true,
    screenWidth: 412,
    screenHeight: 870,
  });
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 });
  await devtools.send('Emulation.setEmitTouchEventsForMouse', { enabled: true, configuration: 'mobile' });
  void page.goto(address).catch(() => null);
  return browser!;
}

/** Another address, so that the page says its last word. */
async function leave(browser: string): Promise<void> {
  if (browser !== 'webkit') {
    await onScreen(['key ctrl+l', 'sleep 0.4', 'type --delay 35 about:blank', 'sleep 0.1', 'key Return']);
  }
  await pause(LAST_REPORT_MS);
}

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await is()); waited += 200) {
    if (waited > STARTS_MS) throw new Error('The browser did not start');
    await pause(200);
  }
}

/** With all that it started. */
async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  if (child.exitCode !== null || child.pid === undefined) return;
  process.kill(-child.pid, 'SIGTERM');
  await Promise.race([ended, pause(5000)]);
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
}
