/**
 * Browsers with a window and without a driver or a debugging port. A `Hand` operates them through the X display, as close
 * to a person as one machine can get (`person-like`), or as desktop automation does (`os-input`). They are Debian's
 * packages chromium, firefox-esr and surf (WebKit). Browsers that are not installed are left out.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { besideBrowser, connectToPort, quietChromiumArgs, spawnBrowser, untilStarted } from './browser-process.ts';
import type { RecordedClient } from './client.ts';
import * as acts from './hand-acts.ts';
import type { HandAct } from './hand-acts.ts';
import { Hand, onScreen, pause } from './hand.ts';
import type { Look } from './hand.ts';
import type { RecordedKind, RecordedSet } from './recording.ts';

interface HandVariant {
  set: RecordedSet;
  kind: RecordedKind;
  variant: string;
  act: HandAct;
  browser?: 'chromium' | 'firefox' | 'webkit';
  size?: readonly [number, number];
  language?: string;
  args?: readonly string[];
  /** For Chromium a JSON file, for Firefox lines of `user.js`. */
  preferences?: string;
  /** Screen pixels per CSS pixel, for browsers that do not report it. */
  scale?: number;
  /** The page is shown as on a phone, by the device mode of the developer tools. */
  phone?: boolean;
}

const tune: Omit<HandVariant, 'set' | 'kind'>[] = [
  { variant: 'reads and scrolls', act: acts.readsAndScrolls },
  { variant: 'reads with the wheel only', act: acts.readsByWheelOnly, size: [1500, 900] },
  { variant: 'fills in a form, in German', act: acts.fillsIn, language: 'de', size: [1440, 860] },
  { variant: 'visits pages, in French', act: acts.visitsPages, language: 'fr', size: [1100, 720] },
  { variant: 'keyboard only', act: acts.keyboardOnly, size: [1366, 768] },
  { variant: 'clicks repeatedly without moving', act: acts.clicksRepeatedly },
  { variant: 'a password manager types', act: acts.passwordManagerTypes },
  { variant: 'only looks while a library dispatches events', act: acts.onlyLooks },
  { variant: 'at 150 % scale', act: acts.fillsIn, args: ['--force-device-scale-factor=1.5'] },
  { variant: 'in full screen', act: acts.readsAndScrolls, args: ['--start-fullscreen'] },
  {
    variant: 'PDF files are downloaded',
    act: acts.visitsPagesAndReturns,
    preferences: '{"plugins":{"always_open_pdf_externally":true}}',
  },
  { variant: 'a phone taps', act: acts.taps, phone: true },
  { variant: 'Firefox fills in a form', act: acts.fillsIn, browser: 'firefox' },
  { variant: 'WebKit reads and scrolls', act: acts.readsAndScrolls, browser: 'webkit' },
];
const report: Omit<HandVariant, 'set' | 'kind'>[] = [
  { variant: 'selects text, in British English', act: acts.selectsText, language: 'en_GB', size: [1440, 880] },
  { variant: 'fills in quickly, in Spanish', act: acts.fillsInQuickly, language: 'es', size: [1120, 760] },
  {
    variant: 'visits pages and returns, in Japanese',
    act: acts.visitsPagesAndReturns,
    language: 'ja',
    size: [1360, 740],
  },
  { variant: 'scrolls with the keyboard', act: acts.scrollsByKeyboard, size: [1024, 768] },
  { variant: 'clicks repeatedly in a small window', act: acts.clicksRepeatedly, size: [520, 700] },
  { variant: 'in a private window', act: acts.fillsIn, args: ['--incognito'], size: [1250, 900] },
  { variant: 'at 125 % scale', act: acts.visitsPages, args: ['--force-device-scale-factor=1.25'] },
  { variant: 'a kiosk', act: acts.fillsInQuickly, args: ['--kiosk'] },
  { variant: 'returns from another tab', act: acts.returnsFromAnotherTab },
  { variant: 'leaves after five seconds', act: acts.leavesAfterFiveSeconds, language: 'it' },
  {
    variant: 'PDF files are downloaded, only looks',
    act: acts.onlyLooks,
    preferences: '{"plugins":{"always_open_pdf_externally":true}}',
  },
  { variant: 'a phone follows a link', act: acts.followsALinkByTap, phone: true },
  { variant: 'Firefox visits pages', act: acts.visitsPages, browser: 'firefox' },
  {
    variant: 'Firefox that resists fingerprinting',
    act: acts.fillsIn,
    browser: 'firefox',
    preferences: 'user_pref("privacy.resistFingerprinting", true);',
    scale: 1,
  },
  { variant: 'WebKit fills in', act: acts.fillsInQuickly, browser: 'webkit' },
];
const tools: Omit<HandVariant, 'kind'>[] = [
  { set: 'tune', variant: 'jumps and types', act: acts.toolJumps },
  { set: 'report', variant: 'glides and types', act: acts.toolGlides },
];
const variants: HandVariant[] = [
  ...tune.map((one) => ({ ...one, set: 'tune' as const, kind: 'person-like' as const })),
  ...report.map((one) => ({ ...one, set: 'report' as const, kind: 'person-like' as const })),
  ...tools.map((one) => ({ ...one, kind: 'os-input' as const })),
];

const programs = { firefox: '/usr/bin/firefox-esr', webkit: '/usr/bin/surf' } as const;
const REPEATS = 2;
/** The next page is shown and the last report sent by then, even on a busy machine. */
const LAST_REPORT_MS = 3000;
/** Recorders that share the work on one machine need a port each. */
const phonePort = 22_700 + Math.floor(Math.random() * 100);
const PHONE_USER_AGENT =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/MAJOR.0.0.0 Mobile Safari/537.36';

/** Each in a browser of its own with a fresh profile. */
export function handClients(set: RecordedSet, look: Look): RecordedClient[] {
  const fullChromium = process.env['GATEHOUSE_CHROMIUM'];
  if (process.env['DISPLAY'] === undefined || fullChromium === undefined) return [];
  return variants
    .filter((variant) => variant.set === set)
    .filter(({ browser }) => browser === undefined || browser === 'chromium' || existsSync(programs[browser]))
    .flatMap((variant) =>
      Array.from({ length: variant.act === acts.onlyLooks ? 1 : REPEATS }, (_, time) => ({
        kind: variant.kind,
        variant: variant.variant,
        network: `${variant.kind} ${variant.variant} ${time}`,
        drive: (url: string) => operate(variant, fullChromium, url, look),
      })),
    );
}

async function operate(variant: HandVariant, fullChromium: string, url: string, seenByPage: Look): Promise<void> {
  const look: Look = () => {
    const seen = seenByPage();
    return seen === null ? null : { ...seen, scale: variant.scale ?? seen.scale };
  };
  const { act, phone = false } = variant;
  const place: [number, number] = phone ? [260, 420] : [500, 450];
  await onScreen([`mousemove ${place[0]} ${place[1]}`]);
  const firstPage = phone ? 'about:blank' : url + act.path;
  const start = (folder: string) => startBrowser(variant, fullChromium, folder, firstPage);
  await besideBrowser(start, async () => {
    const deviceMode = phone ? await showAsPhone(url + act.path) : null;
    try {
      await untilStarted(look);
      await pause(700);
      await act.does({ hand: new Hand(look, place), look });
      await leave(variant.browser ?? 'chromium');
    } finally {
      await deviceMode?.close();
    }
  });
}

function startBrowser(variant: HandVariant, fullChromium: string, folder: string, firstPage: string): ChildProcess {
  const { browser = 'chromium', size = [1280, 800], language = 'en_US', args = [], preferences } = variant;
  const env = { LANGUAGE: language, LANG: `${language}.UTF-8`, HOME: folder };
  const [width, height] = size;
  if (browser === 'firefox') {
    writeFileSync(join(folder, 'user.js'), [...quietFirefoxPreferences, preferences ?? ''].join('\n'));
    const options = ['--profile', folder, '--no-remote', '--width', String(width), '--height', String(height)];
    return spawnBrowser(programs.firefox, [...options, firstPage], env);
  }
  if (browser === 'webkit') return spawnBrowser(programs.webkit, [firstPage], env);
  mkdirSync(join(folder, 'Default'));
  if (preferences !== undefined) writeFileSync(join(folder, 'Default', 'Preferences'), preferences);
  const options = [
    ...quietChromiumArgs,
    '--disable-search-engine-choice-screen',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    `--user-data-dir=${folder}`,
    `--window-size=${width},${height}`,
    `--window-position=${Math.floor(Math.random() * 60)},${Math.floor(Math.random() * 40)}`,
    ...(variant.phone ? [`--remote-debugging-port=${phonePort}`] : []),
    ...args,
  ];
  return spawnBrowser(fullChromium, [...options, firstPage], env);
}

const quietFirefoxPreferences = [
  ['browser.aboutwelcome.enabled', false],
  ['browser.shell.checkDefaultBrowser', false],
  ['datareporting.policy.dataSubmissionPolicyBypassNotification', true],
  ['termsofuse.bypassNotification', true],
  // Firefox reaches nothing but this machine.
  ['network.proxy.type', 1],
  ['network.proxy.http', '127.0.0.1'],
  ['network.proxy.http_port', 9],
  ['network.proxy.ssl', '127.0.0.1'],
  ['network.proxy.ssl_port', 9],
].map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);

/** Shows the page as a phone does and turns mouse clicks into touches, like the device mode of the developer tools. */
async function showAsPhone(address: string): Promise<Browser> {
  const browser = await connectToPort(phonePort);
  const page = browser.contexts()[0]!.pages()[0]!;
  const devtools = await page.context().newCDPSession(page);
  const major = browser.version().split('.', 1)[0]!;
  await devtools.send('Emulation.setUserAgentOverride', {
    userAgent: PHONE_USER_AGENT.replace('MAJOR', major),
    userAgentMetadata: {
      brands: ['Chromium', 'Google Chrome'].map((brand) => ({ brand, version: major })),
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
  return browser;
}

/** Opens another page, so that the page sends its last report. */
async function leave(browser: string): Promise<void> {
  if (browser !== 'webkit') {
    await onScreen(['key ctrl+l', 'sleep 0.4', 'type --delay 35 about:blank', 'sleep 0.1', 'key Return']);
  }
  await pause(LAST_REPORT_MS);
}
