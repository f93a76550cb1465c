/**
 * Changes of sessions that are not written yet. A change that nobody else judges by, such as a report that leaves the
 * score as it is, waits for the next one that counts, so that a session costs few written rows. A restart of the object
 * loses what waits here: counts of reports and renewals, never a score.
 */
import type { SessionState } from '../../../risk/session-state.ts';

/** Two renewals of an active visitor. */
const WAITS_AT_MOST_MS = 600_000;
/** About 40 MB of text. When more sessions change, the longest waiting are written. */
const WAITING_MAX = 25_000;
/** Written with one event, so that no event is slow. */
const AT_ONCE = 64;

interface Waiting {
  since: number;
  /** JSON, which is a third of the size of the object. */
  state: string;
}

/** Whether a change must survive a restart: scores and input decide about visitors, addresses are evidence. */
export function isNews(before: SessionState, after: SessionState): boolean {
  return (
    after.score !== before.score ||
    after.detectors !== before.detectors ||
    after.ignored !== before.ignored ||
    after.telemetry.touched !== before.telemetry.touched ||
    after.addresses.some((address) => !before.addresses.includes(address)) ||
    after.categories.length !== before.categories.length
  );
}

export class WaitingChanges {
  /** Longest waiting first: a session that changes again keeps its place. */
  readonly #waiting = new Map<string, Waiting>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  put(jti: string, state: SessionState, nowMs: number): void {
    const since = this.#waiting.get(jti)?.since ?? nowMs;
    this.#waiting.set(jti, { since, state: JSON.stringify(state) });
  }

  read(jti: string): SessionState | null {
    const waiting = this.#waiting.get(jti);
    return waiting === undefined ? null : (JSON.parse(waiting.state) as SessionState);
  }

  drop(jti: string): void {
    this.#waiting.delete(jti);
  }

  /** Removes and returns those whose time has come. */
  takeDue(nowMs: number): [jti: string, state: SessionState][] {
    const due: [string, SessionState][] = [];
    for (const [jti, { since, state }] of this.#waiting) {
      if (due.length >= AT_ONCE || (since > nowMs - WAITS_AT_MOST_MS && this.#waiting.size <= WAITING_MAX)) break;
      due.push([jti, JSON.parse(state) as SessionState]);
      this.#waiting.delete(jti);
    }
    return due;
  }

  takeAll(): [jti: string, state: SessionState][] {
    const all = [...this.#waiting].map(([jti, { state }]): [string, SessionState] => [jti, JSON.parse(state)]);
    this.#waiting.clear();
    return all;
  }
}
