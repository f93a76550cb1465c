/**
 * Traits of a browser that a program controls, as far as they may appear after a session was opened. Each is yes or no,
 * and none tells one person's browser from another's.
 */
import type { TelemetryTrait } from '../../contract/edge/telemetry.ts';
import { debuggerTraits } from './debugger-trait.ts';

const AUTOMATION_GLOBALS =
  /^(?:__(?:webdriver|selenium|driver|playwright|pw_|pwInitScripts|puppeteer|nightmare)|puppeteer_|_phantom|callPhantom|cdc_[a-z]|domAutomation|\$[a-z]dc_|\$chrome_asyncScriptInfo|se_exportedFunctionSymbol)/i;
/** Before, only driven ones had the property. */
const WEBDRIVER_SINCE_CHROME = 89;
export const HEADLESS = /headless|phantomjs|slimerjs/i;

export function automationTraits(): TelemetryTrait[] {
  const { userAgent, webdriver } = navigator;
  const chrome = /Chrome\/(\d+)/.exec(userAgent);
  const isThere = Object.getOwnPropertyDescriptor(Navigator.prototype, 'webdriver') !== undefined;
  const names = [...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(document)];
  const traits: [TelemetryTrait, boolean][] = [
    ['webdriver', webdriver],
    ['automation-global', names.some((name) => AUTOMATION_GLOBALS.test(name))],
    ['headless-agent', HEADLESS.test(userAgent)],
    // Browsers define the property on the prototype. On the object itself, or missing, it was changed to hide it.
    [
      'patched-webdriver',
      Object.getOwnPropertyDescriptor(navigator, 'webdriver') !== undefined ||
        (!isThere && (chrome === null || Number(chrome[1]) >= WEBDRIVER_SINCE_CHROME)),
    ],
  ];
  return [...traits.filter(([, found]) => found).map(([trait]) => trait), ...debuggerTraits()];
}
