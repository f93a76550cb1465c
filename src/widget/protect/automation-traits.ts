/**
 * Traits of a browser that a program controls. Each is yes or no, and none tells one person's browser from another's.
 * A careful operator hides all of them; most do not.
 */
import type { TelemetryTrait } from '../../contract/edge/telemetry.ts';

const AUTOMATION_GLOBALS =
  /^(?:__(?:webdriver|selenium|driver|playwright|pwInitScripts|puppeteer|nightmare)|_phantom|callPhantom|cdc_[a-z]|domAutomation|\$[a-z]dc_)/i;
/** A window without full screen has at least a tab strip or an address bar. */
const BARS_MIN_PX = 20;
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
  // oxlint-disable-next-line typescript/unbound-method -- read, never called
  const getter = Object.getOwnPropertyDescriptor(prototype, 'webdriver')?.get;
  // oxlint-disable-next-line typescript/unbound-method -- read, never called
  const builtIns = [getter, Function.prototype.toString];
  const names = [...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(document)];
  const traits: [TelemetryTrait, boolean][] = [
    ['webdriver', webdriver],
    ['automation-global', names.some((name) => AUTOMATION_GLOBALS.test(name))],
    ['headless-agent', HEADLESS.test(userAgent)],
    ['no-languages', languages.length === 0],
    ['zero-window', outerWidth === 0 && outerHeight === 0],
    // Browsers define the property on the prototype. On the object itself, or missing, it was changed to hide it.
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
 * The debugging protocol of Chrome gives a pointer the same coordinates on the screen and in the page. A real mouse
 * cannot: the window's own bars lie above the page. A page in full screen has no bars and is ignored. Other browsers
 * are ignored too: that protocol does not control them, and some hide the screen coordinates from every page.
 */
export function isDriven({ pointerType, screenX, screenY, clientX, clientY }: PointerEvent): boolean {
  const barsPx = outerHeight - innerHeight;
  const isSamePlace = screenY > 0 && screenX === clientX && screenY === clientY;
  return isSamePlace && pointerType === 'mouse' && barsPx > BARS_MIN_PX && /Chrome\//.test(navigator.userAgent);
}

function contradicts(
  { brand, version }: { brand: string; version: string },
  userAgent: string,
  major: string,
): boolean {
  return (HEADLESS.test(brand) && !HEADLESS.test(userAgent)) || (brand === 'Chromium' && version !== major);
}

/** A built-in function; a replacement shows its source. */
function isNative(built: unknown): boolean {
  return /\{\s*\[native code\]\s*\}\s*$/.test(Function.prototype.toString.call(built));
}
