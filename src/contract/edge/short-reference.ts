/**
 * The short form of a reference, for people who read it aloud: characters 5 to 8 and the last four. References are
 * UUIDv7 (RFC 9562), so characters 5 to 8 are bits 16 to 31 of the request's milliseconds. They name 65.5 seconds in
 * every 49.7 days, and so the log is searched in one such window only. The last four are random: of the requests of one
 * instance within the window, one in 65,536 has the same.
 */

/** As a page shows it: `09a6-b6ba`. Spaces for the hyphen and capital letters are read as well. */
export const SHORT_REFERENCE = /^([0-9a-f]{4})[- ]?([0-9a-f]{4})$/i;

const WINDOW_MS = 2 ** 16;
const CYCLE_MS = 2 ** 32;

export function isReference(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** `null`: the id is no UUIDv7, and has no short form. */
export function shortReference(id: string): string | null {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? `${id.slice(4, 8)}-${id.slice(-4)}` : null;
}

/** The newest window that the short form can be of, not after `nowMs`. Epoch milliseconds, `until` exclusive. */
export function shortReferenceWindow(short: string, nowMs: number): { since: number; until: number } {
  const within = Number.parseInt(short.slice(0, 4), 16) * WINDOW_MS;
  const cycle = Math.floor((nowMs - within) / CYCLE_MS);
  const since = cycle * CYCLE_MS + within;
  return { since, until: since + WINDOW_MS };
}
