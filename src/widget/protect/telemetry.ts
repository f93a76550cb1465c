/**
 * Counts that a page's visitor is at work, and traits of a browser that is driven (design 6). Counts and
 * times only: what is typed, which keys, where the pointer goes never leave the page.
 */
import { TELEMETRY_COUNT_MAX, TELEMETRY_ELAPSED_MAX_MS } from '../../contract/edge/telemetry-limits.ts';
import type { TelemetryReport } from '../../contract/edge/telemetry.ts';
import { automationTraits, isDriven } from './automation-traits.ts';
import { TypingRhythm } from './typing-rhythm.ts';

/** First report: long enough for a first move, short enough for a quick visit. */
const FIRST_REPORT_MS = 4000;
/** Second report: whoever has not touched a page in sight by then has read it, or is nobody. */
const STILL_REPORT_MS = 30_000;
const REPORTS_MAX = 5;
/** A hand that goes so far is seen on the way: browsers tell of a move once a frame. */
const LEAP_MIN_PIXELS = 40;
const LEAP_MAX_MOVES = 2;

const kinds = {
  pointermove: 'pointerMoves',
  pointerdown: 'presses',
  keydown: 'keys',
  wheel: 'wheels',
  scroll: 'scrolls',
} as const;

/** Counts from now on, so that a quick hand is not missed; reports once there is a session to report for. */
export async function reportTelemetry(base: string, ready: Promise<boolean>): Promise<void> {
  const counts = { pointerMoves: 0, presses: 0, touches: 0, leaps: 0, keys: 0, wheels: 0, scrolls: 0, untrusted: 0 };
  const typing = new TypingRhythm();
  const sight = timeInSight();
  let driven = false;
  let firstInteractionMs: number | null = null;
  /** Where the mouse was pressed last, and the moves seen before that. */
  let press: { x: number; y: number; moves: number } | null = null;
  let reports = 0;
  let reported = '';

  function count(event: Event): void {
    const kind = kinds[event.type as keyof typeof kinds];
    // A window that opens under the pointer tells where it is, and nobody moved it.
    if (event.type === 'pointermove' && isStill(event as PointerEvent)) return;
    // Pages scroll themselves, and libraries announce it with events of their own.
    if (!event.isTrusted) counts.untrusted += kind === 'scrolls' ? 0 : 1;
    else {
      counts[kind]++;
      if (event instanceof PointerEvent) driven ||= isDriven(event);
      if (event instanceof KeyboardEvent) typing.add(event);
      if (kind === 'presses') countPress(event as PointerEvent);
      if (kind !== 'scrolls') firstInteractionMs ??= Math.round(performance.now());
    }
  }

  function countPress({ pointerType, clientX: x, clientY: y }: PointerEvent): void {
    const moves = counts.pointerMoves;
    if (pointerType !== 'mouse') counts.touches++;
    else {
      const seen = press === null || moves - press.moves > LEAP_MAX_MOVES;
      if (!seen && Math.hypot(x - press!.x, y - press!.y) >= LEAP_MIN_PIXELS) counts.leaps++;
      press = { x, y, moves };
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
    const elapsedMs = Math.min(Math.round(performance.now()), TELEMETRY_ELAPSED_MAX_MS);
    const report: TelemetryReport = {
      v: 1,
      elapsedMs,
      visibleMs: Math.min(sight(), elapsedMs),
      firstInteractionMs,
      ...capped,
      ...typing.summary(),
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

function isStill({ isTrusted, pointerType, movementX, movementY }: PointerEvent): boolean {
  return isTrusted && pointerType === 'mouse' && movementX === 0 && movementY === 0;
}

/** Milliseconds that the page has been in sight, from its opening on; a page behind others is in sight. */
function timeInSight(): () => number {
  let before = 0;
  let since = document.visibilityState === 'visible' ? 0 : null;
  document.addEventListener('visibilitychange', () => {
    if (since !== null) before += performance.now() - since;
    since = document.visibilityState === 'visible' ? performance.now() : null;
  });
  return () => Math.round(before + (since === null ? 0 : performance.now() - since));
}
