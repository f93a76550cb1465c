/**
 * What a page sees of its browser: the engine, told by what scripts rarely disguise, the client hints, signs of its window,
 * and traits of automation. Nothing here differs between two people's browsers.
 */
import {
  type EnvironmentSign,
  type FamilyMark,
  languageFeatures,
  type PageSystem,
  type ScriptEngine,
  type TelemetryTrait,
} from '../../contract/edge/page-report-names.ts';
import type { Realm } from '../dom/fresh-realm.ts';
import { HEADLESS, namesFound } from '../protect/automation-traits.ts';
import type { EnvironmentReport } from '../../contract/edge/page-reports.ts';

type Feature = (typeof languageFeatures)[number];

/** Each engine adds other properties to an error, and prints a built-in function in another form. */
export function scriptEngine(): ScriptEngine {
  const names = Object.getOwnPropertyNames(new Error(''));
  const isOneLine = !Function.prototype.toString.call(isNaN).includes('\n');
  if (names.includes('columnNumber')) return isOneLine ? 'other' : 'gecko';
  if (names.includes('sourceURL') || names.includes('line')) return isOneLine ? 'other' : 'jsc';
  return names.includes('stack') && isOneLine ? 'v8' : 'other';
}

export function seenMarks(): FamilyMark[] {
  return namesFound<FamilyMark>([
    ['chrome-object', 'chrome' in globalThis],
    ['hints', 'userAgentData' in navigator],
    ['chromium-css', CSS.supports('-webkit-app-region', 'drag')],
    ['gecko-css', CSS.supports('-moz-orient', 'inline')],
    ['gecko-screen', 'mozInnerScreenX' in globalThis],
    ['webkit-css', CSS.supports('-webkit-nbsp-mode', 'space')],
  ]);
}

/** Of a fresh realm: sites add missing functions to their own. */
export function featureBits(realm: Realm): number {
  const places: Record<Feature, object> = {
    findLast: realm.Array.prototype,
    toSorted: realm.Array.prototype,
    fromAsync: realm.Array,
    union: realm.Set.prototype,
    Iterator: realm,
    try: realm.Promise,
    escape: realm.RegExp,
    fromBase64: realm.Uint8Array,
    Temporal: realm,
  };
  return languageFeatures.reduce((bits, name, place) => bits + (name in places[name] ? 2 ** place : 0), 0);
}

export function pageSystem(platform: string): PageSystem {
  if (platform.startsWith('Win')) return 'windows';
  if (/^(?:Mac|iP)/.test(platform)) return 'apple';
  return /^(?:Linux|Android)/.test(platform) ? 'linux' : 'other';
}

interface Brand {
  brand: string;
  version: string;
}
/** `navigator.userAgentData` of Chromium. Scripts that disguise a browser leave some of it out. */
interface Hints {
  brands: readonly Brand[];
  mobile?: unknown;
  platform?: unknown;
  getHighEntropyValues(names: readonly string[]): Promise<{ fullVersionList?: readonly Brand[] }>;
}

const hintsOf = (): Hints | undefined => (navigator as { userAgentData?: Hints }).userAgentData;

/** In the form of the headers, to be compared with them. */
export function asHints(): EnvironmentReport['hints'] {
  const hints = hintsOf();
  if (hints === undefined) return null;
  const brands = hints.brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', ');
  return { brands: brands.slice(0, 256), mobile: hints.mobile === true, platform: String(hints.platform).slice(0, 32) };
}

/** Never more than yes or no: the long form itself could tell browsers apart. */
export async function hasOtherFullVersion(): Promise<boolean> {
  try {
    const hints = hintsOf();
    const { fullVersionList } = (await hints?.getHighEntropyValues(['fullVersionList'])) ?? {};
    if (hints === undefined || fullVersionList === undefined) return false;
    const short = namesAndMajors(hints.brands);
    return short !== namesAndMajors(fullVersionList);
  } catch {
    return false;
  }
}

function namesAndMajors(brands: readonly Brand[]): string {
  return brands
    .map(({ brand, version }) => `${brand} ${version.split('.', 1)[0]}`)
    .toSorted()
    .join();
}

/** A maximised window reaches a few pixels beyond the screen. */
const BEYOND_MAX_PX = 48;
/** Chromium has at least a row of tabs. */
const BARS_MIN_PX = 20;

/**
 * What a browser without a window, or one whose window a driver resized by protocol, shows of its window and screen.
 * Touch screens are left out: zoom and desktop mode change their sizes.
 */
export function windowSigns(isChromium: boolean): EnvironmentSign[] {
  if (navigator.maxTouchPoints > 0) return [];
  const { width, height } = screen;
  const isWindow = matchMedia('(display-mode: browser)').matches;
  return namesFound<EnvironmentSign>([
    ['beyond-screen', outerWidth > width + BEYOND_MAX_PX || outerHeight > height + BEYOND_MAX_PX],
    ['false-orientation', hasFalseOrientation(screen)],
    ['no-bars', isChromium && isWindow && outerHeight > 0 && outerHeight - innerHeight < BARS_MIN_PX],
    ['smallest-screen', width <= 800 && height <= 600],
    ['no-scrollbars', isChromium && !/Mac/.test(navigator.platform) && scrollbarPx() === 0],
    ['no-pointer', isChromium && matchMedia('(any-pointer: none)').matches],
  ]);
}

/** By definition, an upright screen is higher than wide. Old browsers do not say. */
function hasFalseOrientation({ width, height, orientation }: Screen): boolean {
  const { type = '' } = (orientation as ScreenOrientation | undefined) ?? {};
  return (type.startsWith('portrait') && width > height) || (type.startsWith('landscape') && height > width);
}

function scrollbarPx(): number {
  const box = document.createElement('div');
  // Inherited styles of the page must not reach it.
  box.style.cssText = 'all:initial;position:absolute;visibility:hidden;width:99px;height:99px;overflow:scroll';
  document.documentElement.append(box);
  const px = box.offsetWidth - box.clientWidth;
  box.remove();
  return px;
}

/** What a browser without a window lacks, and brands of another browser. Found once, when a session is opened. */
export function browserTraits(): TelemetryTrait[] {
  const { userAgent, languages, plugins } = navigator;
  const brands = hintsOf()?.brands ?? [];
  const major = /(?:Headless)?Chrome\/(\d+)/.exec(userAgent)?.[1];
  // A frame for pages in another program, such as Qt's, names itself before Chrome and has no object of it.
  const isDesktopChrome = /\) (?:Headless)?Chrome\//.test(userAgent) && !/Mobile|Android/.test(userAgent);
  return namesFound<TelemetryTrait>([
    ['no-languages', languages.length === 0],
    ['zero-window', outerWidth === 0 && outerHeight === 0],
    ['brands-mismatch', major !== undefined && brands.some((brand) => contradicts(brand, userAgent, major))],
    ['no-chrome-object', isDesktopChrome && !('chrome' in globalThis)],
    ['no-plugins', isDesktopChrome && plugins.length === 0],
  ]);
}

function contradicts({ brand, version }: Brand, userAgent: string, major: string): boolean {
  return (HEADLESS.test(brand) && !HEADLESS.test(userAgent)) || (brand === 'Chromium' && version !== major);
}
