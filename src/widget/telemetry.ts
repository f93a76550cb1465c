/**
 * Counts that a page's visitor is at work, and traits of a browser that is driven (design 6). Counts
 * only: what is typed, which keys, where the pointer goes are not looked at.
 */
import { TELEMETRY_COUNT_MAX, TELEMETRY_ELAPSED_MAX_MS } from '../contract/telemetry-limits.ts';
import type { TelemetryReport } from '../contract/telemetry.ts';
import { automationTraits, isDriven } from './automation-traits.ts';

/** First report: long enough for a first move, short enough for a quick visit. */
const FIRST_REPORT_MS = 4000;
/** Second report: whoever has not touched a page in sight by then has read it, or is nobody. */
const STILL_REPORT_MS = 30_000;
const REPORTS_MAX = 5;

const kinds = {
  pointermove: 'pointerMoves',
  pointerdown: 'presses',
  keydown: 'keys',
  scroll: 'scrolls',
} as const;

/** Counts from now on, so that a quick hand is not missed; reports once there is a session to report for. */
export async function reportTelemetry(base: string, ready: Promise<boolean>): Promise<void> {
  const counts = { pointerMoves: 0, presses: 0, keys: 0, scrolls: 0, untrusted: 0 };
  let driven = false;
  let firstInteractionMs: number | null = null;
  let reports = 0;
  let reported = '';

  function count(event: Event): void {
    if (!event.isTrusted) counts.untrusted++;
    else {
      counts[kinds[event.type as keyof typeof kinds]]++;
      driven ||= event instanceof PointerEvent && isDriven(event);
      if (event.type !== 'scroll') firstInteractionMs ??= Math.round(performance.now());
    }
  }

  function send(evenUnchanged = false): void {
    const state = JSON.stringify(counts);
    if (reports >= REPORTS_MAX || (state === reported && !evenUnchanged)) return;
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
      traits: [...automationTraits(), ...(driven ? (['cdp-pointer'] as const) : [])],
    };
    navigator.sendBeacon(`${base}/telemetry`, new Blob([JSON.stringify(report)], { type: 'application/json' }));
  }

  for (const type of Object.keys(kinds)) addEventListener(type, count, { capture: true, passive: true });
  if (!(await ready)) return;
  setTimeout(send, FIRST_REPORT_MS);
  setTimeout(() => {
    if (document.visibilityState === 'visible') send(true);
  }, STILL_REPORT_MS);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') send();
  });
}
