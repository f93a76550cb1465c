/**
 * Counts that a page's visitor is at work, and traits of a browser that is driven (design 6). Counts
 * only: what is typed, which keys, where the pointer goes are not looked at.
 */
import { TELEMETRY_COUNT_MAX, TELEMETRY_ELAPSED_MAX_MS } from '../contract/telemetry-limits.ts';
import type { TelemetryReport, TelemetryTrait } from '../contract/telemetry.ts';

/** First report: long enough for a first move, short enough for a quick visit. */
const FIRST_REPORT_MS = 4000;
const REPORTS_MAX = 5;

const kinds = {
  pointermove: 'pointerMoves',
  pointerdown: 'presses',
  keydown: 'keys',
  scroll: 'scrolls',
} as const;

export function reportTelemetry(base: string): void {
  const counts = { pointerMoves: 0, presses: 0, keys: 0, scrolls: 0, untrusted: 0 };
  let firstInteractionMs: number | null = null;
  let reports = 0;
  let reported = '';

  function count(event: Event): void {
    if (!event.isTrusted) counts.untrusted++;
    else {
      counts[kinds[event.type as keyof typeof kinds]]++;
      if (event.type !== 'scroll') firstInteractionMs ??= Math.round(performance.now());
    }
  }

  function send(): void {
    const state = JSON.stringify(counts);
    if (reports >= REPORTS_MAX || state === reported) return;
    reports++;
    reported = state;
    const capped = Object.fromEntries(
      Object.entries(counts).map(([name, value]) => [name, Math.min(value, TELEMETRY_COUNT_MAX)]),
    ) as typeof counts;
    const report: TelemetryReport = {
      v: 1,
      elapsedMs: Math.min(Math.round(performance.now()), TELEMETRY_ELAPSED_MAX_MS),
      firstInteractionMs,
      ...capped,
      traits: traits(),
    };
    navigator.sendBeacon(`${base}/telemetry`, new Blob([JSON.stringify(report)], { type: 'application/json' }));
  }

  for (const type of Object.keys(kinds)) addEventListener(type, count, { capture: true, passive: true });
  setTimeout(send, FIRST_REPORT_MS);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') send();
  });
}

const AUTOMATION_GLOBALS =
  /^(?:__(?:webdriver|selenium|driver|playwright|pwInitScripts|puppeteer|nightmare)|_phantom|callPhantom|cdc_[a-z]|domAutomation|\$[a-z]dc_)/i;

function traits(): TelemetryTrait[] {
  const found: TelemetryTrait[] = [];
  if (navigator.webdriver) found.push('webdriver');
  if (
    [...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(document)].some((name) =>
      AUTOMATION_GLOBALS.test(name),
    )
  )
    found.push('automation-global');
  if (/headless|phantomjs|slimerjs/i.test(navigator.userAgent)) found.push('headless-agent');
  if (navigator.languages.length === 0) found.push('no-languages');
  if (outerWidth === 0 && outerHeight === 0) found.push('zero-window');
  // Browsers keep the property on the prototype; one on the object itself was put there to hide it.
  if (Object.getOwnPropertyDescriptor(navigator, 'webdriver') !== undefined) found.push('patched-webdriver');
  return found;
}
