/**
 * Reports that no page can have made: counts that contradict each other or the clock. A script that
 * posts telemetry without a page has to invent them.
 */
import type { TelemetryReport } from '../contract/edge/telemetry.ts';

/** Browsers deliver pointer and scroll events once a frame: 240 a second on the quickest screens. */
const EVENTS_PER_SECOND_MAX = 250;
/** Nobody presses or types faster, ten fingers included. */
const PRESSES_PER_SECOND_MAX = 40;
/** A burst at the start of a short report is no proof. */
const GRACE_EVENTS = 50;

export function isImplausible(report: TelemetryReport): boolean {
  const { elapsedMs, visibleMs, firstInteractionMs, pointerMoves, presses, touches, leaps, keys, keyGaps } = report;
  const { wheels, scrolls } = report;
  if (visibleMs > elapsedMs || touches + leaps > presses || keyGaps > keys) return true;
  const touched = pointerMoves + presses + keys + wheels;
  if (firstInteractionMs === null ? touched > 0 : touched === 0) return true;
  if (firstInteractionMs !== null && firstInteractionMs > elapsedMs) return true;
  const seconds = elapsedMs / 1000;
  const moved = pointerMoves + wheels + scrolls;
  if (moved > 3 * EVENTS_PER_SECOND_MAX * seconds + GRACE_EVENTS) return true;
  return presses + keys > PRESSES_PER_SECOND_MAX * seconds + GRACE_EVENTS;
}
