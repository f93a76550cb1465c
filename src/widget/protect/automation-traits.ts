/**
 * Traits of a browser that is driven (design 6): yes or no for each, nothing that tells one person's
 * browser from another's. Whoever drives a browser well hides them all; most do not.
 */
import type { TelemetryTrait } from '../../contract/edge/telemetry.ts';

const AUTOMATION_GLOBALS =
  /^(?:__(?:webdriver|selenium|driver|playwright|pwInitScripts|puppeteer|nightmare)|_phantom|callPhantom|cdc_[a-z]|domAutomation|\$[a-z]dc_)/i;
const HEADLESS = /headless|phantomjs|slimerjs/i;

interface Brands {
  userAgentData?: { brands?: readonly { brand: string; version: string }[] };
}

export function automationTraits(): TelemetryTrait[] {
  const { userAgent, webdriver, languages, plugins } = navigator;
  const { brands = [] } = (navigator as Brands).userAgentData ?? {};
  const chrome = /(?:Headless)?Chrome\/(\d+)/.exec(userAgent);
  const desktopChrome = chrome !== null && !/Mobile|Android/.test(userAgent);
  const prototype = Object.getPrototypeOf(navigator) as object;
  // oxlint-disable-next-line typescript/unbound-method -- looked at, never called
  const getter = Object.getOwnPropertyDescriptor(prototype, 'webdriver')?.get;
  // oxlint-disable-next-line typescript/unbound-method -- looked at, never called
  const builtIns = [getter, Function.prototype.toString];
  const names = [...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(document)];
  const traits: [TelemetryTrait, boolean][] = [
    ['webdriver', webdriver],
    ['automation-global', names.some((name) => AUTOMATION_GLOBALS.test(name))],
    ['headless-agent', HEADLESS.test(userAgent)],
    ['no-languages', languages.length === 0],
    ['zero-window', outerWidth === 0 && outerHeight === 0],
    // Browsers keep the property on the prototype; one on the object itself, or none, was put there to hide it.
    [
      'patched-webdriver',
      Object.getOwnPropertyDescriptor(navigator, 'webdriver') !== undefined || getter === undefined,
    ],
    ['patched-native', builtIns.some((built) => built && !isNative(built))],
    ['brands-mismatch', chrome !== null && brands.some((brand) => contradicts(brand, userAgent, chrome[1]!))],
    ['no-chrome-object', desktopChrome && !('chrome' in globalThis)],
    ['no-plugins', desktopChrome && plugins.length === 0],
  ];
  return traits.filter(([, found]) => found).map(([trait]) => trait);
}

/**
 * The debugging protocol puts a pointer at the same place of screen and page; below a window's own bars no
 * hand can. A page in full screen has no bars and is left out; so are browsers of other makes, which that protocol
 * does not drive, and some of which hide the place on the screen from every page.
 */
export function isDriven({ pointerType, screenX, screenY, clientX, clientY }: PointerEvent): boolean {
  const bars = outerHeight - innerHeight;
  const same = screenY > 0 && screenX === clientX && screenY === clientY;
  return same && pointerType === 'mouse' && bars > 20 && /Chrome\//.test(navigator.userAgent);
}

function contradicts(
  { brand, version }: { brand: string; version: string },
  userAgent: string,
  major: string,
): boolean {
  return (HEADLESS.test(brand) && !HEADLESS.test(userAgent)) || (brand === 'Chromium' && version !== major);
}

/** A function of the browser's own; a replacement shows its source. */
function isNative(built: unknown): boolean {
  return /\{\s*\[native code\]\s*\}\s*$/.test(Function.prototype.toString.call(built));
}
