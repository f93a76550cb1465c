/**
 * Finds reports that no page can have made: their counts contradict each other or the clock. A script that posts
 * telemetry without a page has to invent its counts.
 */
import type { TelemetryReport } from '../contract/edge/page-reports.ts';

/** Browsers send pointer and scroll events once a frame: 240 a second on the fastest screens. */
const EVENTS_PER_SECOND_MAX = 250;
/** No one presses or types faster, even with ten fingers. */
const PRESSES_PER_SECOND_MAX = 40;
/**
 * A page counts from the moment its session was opened, as the browser learned of it, so an honest report is always
 * younger than the session. This much is for the clocks of two Workers.
 */
const CLOCK_SLACK_MS = 2000;
/** Many events at the start of a short report prove nothing. */
const GRACE_EVENTS = 50;

/** `ageMs`: how long the session has lived, by the service's clock. */
export function isImplausible(report: TelemetryReport, ageMs: number): boolean {
  const { elapsedMs, visibleMs, firstInteractionMs, pointerMoves, presses, touches, leaps, keys, keyGaps } = report;
  const { wheels, scrolls } = report;
  if (elapsedMs > ageMs + CLOCK_SLACK_MS) return true;
  if (visibleMs > elapsedMs || touches + leaps > presses || keyGaps > keys) return true;
  const touched = pointerMoves + presses + keys + wheels;
  if (firstInteractionMs === null ? touched > 0 : touched === 0) return true;
  if (firstInteractionMs !== null && firstInteractionMs > elapsedMs) return true;
  const seconds = elapsedMs / 1000;
  const moved = pointerMoves + wheels + scrolls;
  if (moved > 3 * EVENTS_PER_SECOND_MAX * seconds + GRACE_EVENTS) return true;
  return presses + keys > PRESSES_PER_SECOND_MAX * seconds + GRACE_EVENTS;
}
