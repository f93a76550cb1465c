/**
 * Path patterns of robots.txt (RFC 9309 section 2.2.2): `*` is any characters, `$` at the end is the end of the address,
 * everything else is a prefix. The pieces between the stars are searched from left to right. The leftmost place is
 * always right, so nothing is tried twice.
 */
import { spelledEscapes } from '../bytes/url-path.ts';

/** Both in the spelling of `spelledPath`; the address with its query. */
export function matchesPath(pattern: string, address: string): boolean {
  const isWhole = pattern.endsWith('$');
  const pieces = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  const first = pieces[0] as string;
  if (!address.startsWith(first)) return false;
  if (pieces.length === 1) return !isWhole || address.length === first.length;
  let from = first.length;
  const last = pieces.length - 1;
  for (let at = 1; at < last; at++) {
    const piece = pieces[at] as string;
    const found = address.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  const end = pieces[last] as string;
  if (!isWhole) return address.includes(end, from);
  return address.length - end.length >= from && address.endsWith(end);
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
