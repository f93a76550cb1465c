/**
 * A short name for a browser, from what it calls itself: "Firefox on Windows". It is a help for people who look for their
 * own device; the whole text is in the title. A text that names no known browser is shown as it is.
 */
const browsers: readonly (readonly [mark: RegExp, name: string])[] = [
  // Browsers name each other for compatibility: the narrower mark comes first.
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\b(iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

export function browserName(userAgent: string): string | null {
  const named = (table: typeof browsers) => table.find(([mark]) => mark.test(userAgent))?.[1];
  const browser = named(browsers);
  const system = named(systems);
  return browser === undefined || system === undefined ? null : `${browser} on ${system}`;
}
