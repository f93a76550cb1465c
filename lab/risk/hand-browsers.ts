/**
 * Browsers with a window and without a driver or a debugging port. A `Hand` operates them through the X display, as close
 * to a person as one machine can get (`person-like`), or as desktop automation does (`os-input`). They are Debian's
 * packages chromium, firefox-esr and surf (WebKit). Browsers that are not installed are left out.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { besideBrowser, quietChromiumArgs, spawnBrowser, untilStarted } from './browser-process.ts';
import type { RecordedClient } from './client.ts';
import * as acts from './hand-acts.ts';
import type { HandAct } from './hand-acts.ts';
import { Hand, type Look, onScreen, pause } from './hand.ts';
import { showAsPhone } from './phone-view.ts';
import { hasRemoteDisplay, onRemoteDisplay } from './remote-display.ts';
import type { RecordedKind, RecordedSet } from './recording.ts';

/** `falkon` is a Chromium of 2020. */
type HandBrowser = 'chromium' | 'firefox' | 'webkit' | 'falkon';

interface HandVariant {
  set: RecordedSet;
  kind: RecordedKind;
  variant: string;
  act: HandAct;
  browser?: HandBrowser;
  size?: readonly [number, number];
  language?: string;
  args?: readonly string[];
  /** For Chromium a JSON file, for Firefox lines of `user.js`. */
  preferences?: string;
  /** Screen pixels per CSS pixel, for browsers that do not report it. */
  scale?: number;
  /** The page is shown as on a phone, by the device mode of the developer tools. */
  phone?: boolean;
  /** On a display that is seen over the network. */
  remote?: boolean;
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
  { variant: 'developer tools at the side', act: acts.readsByWheelOnly, args: ['--auto-open-devtools-for-tabs'] },
  { variant: 'zoomed in', act: acts.zoomsIn },
  { variant: 'without graphics for pages', act: acts.readsAndScrolls, args: ['--disable-3d-apis', '--disable-gpu'] },
  {
    variant: 'Firefox with protection from fingerprinting',
    act: acts.readsAndScrolls,
    browser: 'firefox',
    preferences: 'user_pref("privacy.fingerprintingProtection", true);',
  },
  { variant: 'Falkon reads', act: acts.readsAndScrolls, browser: 'falkon' },
  { variant: 'uses several pages', act: acts.usesSeveralPages },
  { variant: 'Firefox uses several pages', act: acts.usesSeveralPages, browser: 'firefox' },
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
  { variant: 'on a remote desktop', act: acts.fillsIn, remote: true },
  { variant: 'Firefox on a remote desktop', act: acts.readsAndScrolls, browser: 'firefox', remote: true },
  { variant: 'canvas cannot be read', act: acts.readsAndScrolls, args: ['--disable-reading-from-canvas'] },
  { variant: 'without a just-in-time compiler', act: acts.fillsInQuickly, args: ['--js-flags=--jitless'] },
  {
    variant: 'with a screen reader’s tree, by keys',
    act: acts.keyboardOnly,
    args: ['--force-renderer-accessibility=complete'],
  },
  { variant: 'in forced colours', act: acts.fillsInQuickly, args: ['--force-high-contrast'] },
  { variant: 'with the caret', act: acts.readsWithTheCaret },
  { variant: 'far zoomed in', act: acts.zoomsIn, size: [900, 700] },
  {
    variant: 'Firefox without graphics, cookies of the site only',
    act: acts.fillsInQuickly,
    browser: 'firefox',
    preferences: 'user_pref("webgl.disabled", true);\nuser_pref("network.cookie.cookieBehavior", 1);',
  },
  {
    variant: 'Firefox in forced colours with the caret',
    act: acts.readsWithTheCaret,
    browser: 'firefox',
    preferences:
      'user_pref("browser.display.document_color_use", 2);\nuser_pref("accessibility.browsewithcaret", true);\nuser_pref("accessibility.warn_on_browsewithcaret", false);',
  },
  { variant: 'Firefox, reader view', act: acts.opensReaderView, browser: 'firefox' },
  {
    variant: 'Firefox in a private window',
    act: acts.readsAndScrolls,
    browser: 'firefox',
    preferences: 'user_pref("browser.privatebrowsing.autostart", true);',
  },
  { variant: 'Falkon visits pages', act: acts.visitsPages, browser: 'falkon' },
  { variant: 'WebKit only looks', act: acts.onlyLooks, browser: 'webkit' },
  { variant: 'uses several pages, in Dutch', act: acts.usesSeveralPages, language: 'nl', size: [1180, 760] },
  { variant: 'uses several pages of a site in a small window', act: acts.usesSeveralPages, size: [820, 680] },
  { variant: 'Firefox uses several pages, in Polish', act: acts.usesSeveralPages, browser: 'firefox', language: 'pl' },
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

const programs = {
  firefox: '/usr/bin/firefox-esr',
  webkit: '/usr/bin/surf',
  falkon: '/usr/bin/falkon',
} as const;
const REPEATS = 2;
/** The next page is shown and the last report sent by then, even on a busy machine. */
const LAST_REPORT_MS = 3000;
/** Recorders that share the work on one machine need a port each. */
const phonePort = 22_700 + Math.floor(Math.random() * 100);

/** Each in a browser of its own with a fresh profile. */
export function handClients(set: RecordedSet, look: Look): RecordedClient[] {
  const fullChromium = process.env['GATEHOUSE_CHROMIUM'];
  if (process.env['DISPLAY'] === undefined || fullChromium === undefined) return [];
  return variants
    .filter((variant) => variant.set === set)
    .filter(({ browser }) => browser === undefined || browser === 'chromium' || existsSync(programs[browser]))
    .filter(({ remote = false }) => !remote || hasRemoteDisplay)
    .flatMap((variant) =>
      Array.from({ length: variant.act === acts.onlyLooks ? 1 : REPEATS }, (_, time) => ({
        kind: variant.kind,
        variant: variant.variant,
        network: `${variant.kind} ${variant.variant} ${time}`,
        drive: (url: string) => {
          const drive = () => operate(variant, fullChromium, url, look);
          return variant.remote ? onRemoteDisplay(drive) : drive();
        },
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
    const deviceMode = phone ? await showAsPhone(phonePort, url + act.path) : null;
    try {
      await untilStarted(look);
      await pause(700);
      await act.does({ hand: new Hand(look, place), look });
      await leave(variant.browser ?? 'chromium');
    } finally {
      deviceMode?.close();
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
  if (browser === 'falkon') {
    return spawnBrowser(programs.falkon, ['--no-remote', firstPage], { ...env, QTWEBENGINE_DISABLE_SANDBOX: '1' });
  }
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

/** Opens another page, so that the page sends its last report. */
async function leave(browser: string): Promise<void> {
  if (browser === 'chromium' || browser === 'firefox') {
    await onScreen(['key ctrl+l', 'sleep 0.4', 'type --delay 35 about:blank', 'sleep 0.1', 'key Return']);
  }
  await pause(LAST_REPORT_MS);
}
