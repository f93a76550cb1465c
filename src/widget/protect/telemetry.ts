/**
 * Reports how much a visitor uses the page, and traits of a browser that a program controls. It sends counts and times
 * only: typed text, keys and pointer positions never leave the page.
 */
import { TELEMETRY_COUNT_MAX, TELEMETRY_ELAPSED_MAX_MS } from '../../contract/edge/telemetry-limits.ts';
import type { TelemetryReport } from '../../contract/edge/telemetry.ts';
import { automationTraits, isDriven } from './automation-traits.ts';
import { TypingRhythm } from './typing-rhythm.ts';

/** Long enough for a first pointer move, short enough for a quick visit. */
const FIRST_REPORT_MS = 4000;
/** A visitor who has not used a visible page by then is reading it, or is a program. */
const STILL_REPORT_MS = 30_000;
const REPORTS_MAX = 5;
/** A real pointer that goes this far is seen on the way, because browsers report a move once a frame. */
const LEAP_MIN_PX = 40;
const LEAP_MAX_MOVES = 2;

const kinds = {
  pointermove: 'pointerMoves',
  pointerdown: 'presses',
  keydown: 'keys',
  wheel: 'wheels',
  scroll: 'scrolls',
} as const;

/** Counts from now on, so that no early input is missed. Reports once there is a session. */
export async function reportTelemetry(base: string, ready: Promise<boolean>): Promise<void> {
  const counts = { pointerMoves: 0, presses: 0, touches: 0, leaps: 0, keys: 0, wheels: 0, scrolls: 0, untrusted: 0 };
  const typing = new TypingRhythm();
  const visibleMs = visibleTime();
  let driven = false;
  let firstInteractionMs: number | null = null;
  /** Where the mouse was last pressed, and the moves counted before that. */
  let press: { x: number; y: number; moves: number } | null = null;
  let reports = 0;
  let reported = '';

  function count(event: Event): void {
    const kind = kinds[event.type as keyof typeof kinds];
    // A window that opens under the pointer reports the pointer's position although it did not move.
    if (event.type === 'pointermove' && isStill(event as PointerEvent)) return;
    // Pages scroll by script, and libraries dispatch scroll events of their own.
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
      if (!seen && Math.hypot(x - press!.x, y - press!.y) >= LEAP_MIN_PX) counts.leaps++;
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
      visibleMs: Math.min(visibleMs(), elapsedMs),
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

/** Milliseconds that the page has been visible since it opened. A page behind other windows counts as visible. */
function visibleTime(): () => number {
  let beforeMs = 0;
  let sinceMs = document.visibilityState === 'visible' ? 0 : null;
  document.addEventListener('visibilitychange', () => {
    if (sinceMs !== null) beforeMs += performance.now() - sinceMs;
    sinceMs = document.visibilityState === 'visible' ? performance.now() : null;
  });
  return () => Math.round(beforeMs + (sinceMs === null ? 0 : performance.now() - sinceMs));
}
