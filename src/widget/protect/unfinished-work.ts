/**
 * The piece of work that a page is left with. The next page of the tab goes on where this one stopped, so that a slow phone
 * finishes pieces although its pages are left sooner.
 */
import type { PowTask } from '../../contract/captcha/challenge-api.ts';

export interface Piece {
  challenge: string;
  pow: PowTask;
  /** By the browser's clock. */
  receivedAtMs: number;
}

const KEY = 'gatehouse.work';
/** The service takes a piece for five minutes. */
const KEPT_MS = 240_000;

export function keepUnfinished(piece: Piece): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(piece));
  } catch {
    // A browser that keeps nothing: the next page begins anew.
  }
}

/** Once: a piece that the service refuses must not come back. */
export function takeUnfinished(nowMs: number): Piece | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Piece | null;
    sessionStorage.removeItem(KEY);
    return kept !== null && nowMs - kept.receivedAtMs < KEPT_MS ? kept : null;
  } catch {
    return null;
  }
}
