/**
 * Path patterns of robots.txt (RFC 9309 section 2.2.2): `*` is any characters, `$` at the end is the end of the address,
 * everything else is a prefix.
 */
import { matchesPieces } from '../bytes/glob.ts';
import { spelledEscapes } from '../bytes/url-path.ts';

/** Both in the spelling of `spelledPath`; the address with its query. */
export function matchesPath(pattern: string, address: string): boolean {
  return matchesPieces(address, (pattern.endsWith('$') ? pattern.slice(0, -1) : `${pattern}*`).split('*'));
}

/** Whether every address that `pattern` matches is matched by `around` as well. May be `false` where it is so. */
export function covers(around: string, pattern: string): boolean {
  if (around === pattern) return true;
  const isWhole = pattern.endsWith('$');
  if (around.endsWith('$') && !isWhole) return around.endsWith('*$') && covers(around.slice(0, -2), pattern);
  // A star of the pattern is a character here that only a star of the other one matches.
  return matchesPath(around, isWhole ? pattern.slice(0, -1) : pattern);
}

/** One spelling for equal paths: unreserved characters as they are, every other escape in capitals, `*` and `$` kept. */
export function spelledPath(path: string): string {
  return spelledEscapes(path.replace(/[^!-~]+/gu, (text) => encodeURIComponent(text.toWellFormed())));
}
