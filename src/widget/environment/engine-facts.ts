/** Which engine runs the page, told by what scripts rarely disguise. Nothing here differs between two people's browsers. */
import {
  type FamilyMark,
  languageFeatures,
  type PageSystem,
  type ScriptEngine,
} from '../../contract/edge/page-report-names.ts';
import type { Realm } from '../dom/fresh-realm.ts';
import { namesFound } from '../protect/automation-traits.ts';

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
