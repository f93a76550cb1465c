/** Whether `Sec-CH-UA*` describe the browser of the user agent. A tool that copies a browser's name forgets one of them. */
import type { ClaimedBrowser } from './claimed-browser.ts';

interface ClientHints {
  uaBrands: string | null;
  uaMobile: string | null;
  uaPlatform: string | null;
}

const BRANDS_READ_MAX_CHARS = 256;
const systems: Readonly<Record<string, RegExp>> = {
  windows: /Windows/,
  macos: /Mac OS X|Macintosh/,
  linux: /Linux|X11/,
  android: /Android/,
  'chrome os': /CrOS/,
  chromeos: /CrOS/,
};

/** What was found of the last request with hints: a page's requests come one after another, with the same ones. */
let last: (ClientHints & { claim: ClaimedBrowser; userAgent: string; contradicts: boolean }) | null = null;

export function contradictsHints(userAgent: string, claim: ClaimedBrowser, hints: ClientHints): boolean {
  const { uaBrands, uaMobile, uaPlatform } = hints;
  if (uaBrands === null) return false;
  if (
    last === null ||
    last.claim !== claim ||
    last.userAgent !== userAgent ||
    last.uaBrands !== uaBrands ||
    last.uaMobile !== uaMobile ||
    last.uaPlatform !== uaPlatform
  ) {
    const contradicts = contradict(userAgent, claim, uaBrands, hints);
    last = { claim, userAgent, uaBrands, uaMobile, uaPlatform, contradicts };
  }
  return last.contradicts;
}

function contradict(
  userAgent: string,
  claim: ClaimedBrowser,
  uaBrands: string,
  { uaMobile, uaPlatform }: ClientHints,
): boolean {
  // Only Chromium browsers send brands.
  if (claim.engine !== 'chromium') return true;
  const read = uaBrands.slice(0, BRANDS_READ_MAX_CHARS);
  const chromium = /"Chromium";\s*v="(\d{1,4})/.exec(read)?.[1];
  if (chromium !== undefined && Number(chromium) !== claim.chromium) return true;
  if (/headless/i.test(read) && !claim.isHeadless) return true;
  const system = systems[(uaPlatform ?? '').replaceAll('"', '').toLowerCase()];
  if (system !== undefined && !system.test(userAgent)) return true;
  return (uaMobile === '?1' && !/Mobile/.test(userAgent)) || (uaMobile === '?0' && /Mobile/.test(userAgent));
}
