/**
 * Whether a browser's own headers fit together: `User-Agent`, `Sec-CH-UA*` and `Sec-Fetch-*`. A tool that copies a
 * browser's name often forgets one of them, or sends an older version.
 */
import type { ClientHeaders } from '../contract/edge/edge-api.ts';

/** The first Chrome whose every build sends `Sec-CH-UA` unasked. */
const HINTS_SINCE_CHROME = 90;
/** Browsers that have sent `Sec-Fetch-*` for years. */
const SENDS_FETCH_METADATA =
  /(?:Chrome\/(?:9\d|1\d\d)|Firefox\/(?:9\d|1\d\d)|Version\/(?:1[7-9]|[2-9]\d)[\d.]* (?:Mobile\/\S+ )?Safari)/;

/** Whether this browser sends `Sec-Fetch-*` over https. */
export function sendsFetchMetadata(userAgent: string): boolean {
  return SENDS_FETCH_METADATA.test(userAgent);
}

/** Android's `; wv`, iOS WebKit without Safari's own token, and the well-known in-app browsers. */
export function isWebView(userAgent: string): boolean {
  if (/;\s*wv\)/.test(userAgent) || /\b(?:FBAN|FBAV|Instagram|Line\/|MicroMessenger)/.test(userAgent)) return true;
  return /iPhone|iPad/.test(userAgent) && /AppleWebKit/.test(userAgent) && !/Safari\//.test(userAgent);
}

/** Major version of a Chromium browser, or `null` for other browsers. */
export function chromiumMajor(userAgent: string): number | null {
  const major = /\b(?:Headless)?Chrome\/(\d{1,4})/.exec(userAgent)?.[1];
  return major === undefined ? null : Number(major);
}

/** Web views may omit them, and so may anything older than Chrome 90. */
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

/** Browsers send site, mode and destination together. Only a navigation has a document as its destination. */
export function contradictsFetchMetadata({ fetchSite, fetchMode, fetchDest }: ClientHeaders): boolean {
  const given = [fetchSite, fetchMode, fetchDest].filter((value) => value !== null).length;
  if (given === 0) return false;
  if (given < 3) return true;
  if (fetchMode === 'navigate') return fetchDest === 'empty';
  return fetchDest === 'document';
}
