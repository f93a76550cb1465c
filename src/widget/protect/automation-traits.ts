/**
 * Traits of a browser that a program controls, as far as they may appear after a session was opened. Each is yes or no,
 * and none tells one person's browser from another's.
 */
import type { TelemetryTrait } from '../../contract/edge/page-report-names.ts';
import { inFreshRealm } from '../dom/fresh-realm.ts';

const AUTOMATION_GLOBALS =
  /^(?:__(?:webdriver|selenium|driver|playwright|pw_|pwInitScripts|puppeteer|nightmare)|puppeteer_|_phantom|callPhantom|cdc_[a-z]|domAutomation|\$[a-z]dc_|\$chrome_asyncScriptInfo|se_exportedFunctionSymbol)/i;
/** Before, only driven ones had the property. */
const WEBDRIVER_SINCE_CHROME = 89;
export const HEADLESS = /headless|phantomjs|slimerjs/i;

/** Of what may be found, the names of what is. */
export function namesFound<Name extends string>(all: readonly (readonly [Name, boolean])[]): Name[] {
  return all.filter(([, found]) => found).map(([name]) => name);
}

export function automationTraits(): TelemetryTrait[] {
  const { userAgent, webdriver } = navigator;
  const chrome = /Chrome\/(\d+)/.exec(userAgent);
  const isThere = Object.getOwnPropertyDescriptor(Navigator.prototype, 'webdriver') !== undefined;
  const names = [...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(document)];
  const traits = namesFound<TelemetryTrait>([
    ['webdriver', webdriver],
    ['automation-global', names.some((name) => AUTOMATION_GLOBALS.test(name))],
    ['headless-agent', HEADLESS.test(userAgent)],
    // Browsers define the property on the prototype. On the object itself, or missing, it was changed to hide it.
    [
      'patched-webdriver',
      Object.getOwnPropertyDescriptor(navigator, 'webdriver') !== undefined ||
        (!isThere && (chrome === null || Number(chrome[1]) >= WEBDRIVER_SINCE_CHROME)),
    ],
  ]);
  return [...traits, ...debuggerTraits()];
}

/**
 * What assistants show the person on a page that they operate: the borders, stop buttons and pointers of extensions and
 * browsers, and the boxes that agents draw around elements for their model. They are published, and easy to leave out.
 */
const AGENT_MARKS =
  '[id^=claude-agent-],[id^=codex-agent-],[id^=pplx-agent],#__gemini_automation_overlay,[id^=browser-use-]';

export function hasAgentMarks(): boolean {
  return document.querySelector(AGENT_MARKS) !== null;
}

/** Wider than a window's frame, and taller than its bars and a row of bookmarks. */
const PANEL_MIN_WIDTH_PX = 160;
const PANEL_MIN_HEIGHT_PX = 250;

/**
 * Whether a debugging protocol listens to the page. Chromium then describes what is written to the console, and reads
 * an error's stack for it; otherwise it does not. A fresh realm is asked, because sites wrap their own console. Panels
 * that are open at a side of the window belong to a person.
 */
function debuggerTraits(): TelemetryTrait[] {
  const isRead = inFreshRealm(({ console, Error }) => {
    let reads = 0;
    Object.assign(Error, { prepareStackTrace: () => `${++reads}` });
    console.debug(new Error());
    return reads > 0;
  });
  if (!isRead) return [];
  const hasPanel = outerWidth - innerWidth > PANEL_MIN_WIDTH_PX || outerHeight - innerHeight > PANEL_MIN_HEIGHT_PX;
  return [hasPanel ? 'developer-tools' : 'debugger'];
}
