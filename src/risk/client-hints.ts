/**
 * Whether what a browser says of itself in three places fits together: `User-Agent`, `Sec-CH-UA*` and
 * `Sec-Fetch-*`. A tool that borrows a browser's name forgets one of them, or sends an older one.
 */
import type { ClientHeaders } from '../contract/edge/edge-api.ts';

/** The first version whose every build sends `Sec-CH-UA` by itself. */
const HINTS_SINCE_CHROME = 90;

/** Major version of a Chromium browser by its user agent, or `null` for another browser. */
export function chromiumMajor(userAgent: string): number | null {
  const major = /\b(?:Headless)?Chrome\/(\d{1,4})/.exec(userAgent)?.[1];
  return major === undefined ? null : Number(major);
}

/** A web view may leave them out; so may anything before Chrome 90. */
export function sendsClientHints(userAgent: string): boolean {
  return (chromiumMajor(userAgent) ?? 0) >= HINTS_SINCE_CHROME && !/;\s*wv\)/.test(userAgent);
}

const systems: Readonly<Record<string, RegExp>> = {
  windows: /Windows/,
  macos: /Mac OS X|Macintosh/,
  linux: /Linux|X11/,
  android: /Android/,
  'chrome os': /CrOS/,
  chromeos: /CrOS/,
};

export function contradictsHints(userAgent: string, headers: ClientHeaders): boolean {
  const { uaBrands, uaMobile, uaPlatform } = headers;
  if (uaBrands === null) return false;
  const major = chromiumMajor(userAgent);
  // Only Chromium browsers send brands.
  if (major === null) return true;
  const brands = [...uaBrands.matchAll(/"([^"]{0,64})";\s*v="(\d{1,4})/g)];
  const chromium = brands.find(([, name]) => name === 'Chromium');
  if (chromium !== undefined && Number(chromium[2]) !== major) return true;
  if (brands.some(([, name]) => /headless/i.test(name ?? '')) && !/headless/i.test(userAgent)) return true;
  const system = systems[(uaPlatform ?? '').replaceAll('"', '').toLowerCase()];
  if (system !== undefined && !system.test(userAgent)) return true;
  return (uaMobile === '?1' && !/Mobile/.test(userAgent)) || (uaMobile === '?0' && /Mobile/.test(userAgent));
}

/** Browsers send site, mode and destination together, and never navigate to nowhere. */
export function contradictsFetchMetadata({ fetchSite, fetchMode, fetchDest }: ClientHeaders): boolean {
  const given = [fetchSite, fetchMode, fetchDest].filter((value) => value !== null).length;
  if (given === 0) return false;
  if (given < 3) return true;
  if (fetchMode === 'navigate') return fetchDest === 'empty';
  return fetchDest === 'document';
}
