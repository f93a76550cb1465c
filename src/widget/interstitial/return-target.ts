/**
 * Where a visitor goes after passing: only to a path of the same origin. A challenge page must not become an open
 * redirect or run a `javascript:` address (GHSA-jhjj-2g64-px7c). The edge checks the address too; this is the second
 * check, right before the navigation.
 */

/** The address to open, or `/` for anything that is not clearly a path of this origin. */
export function safeReturnTarget(candidate: string, origin: string): string {
  if (!/^\/(?![/\\])/.test(candidate) || !/^[\x21-\x7e\x80-\uffff]*$/.test(candidate)) return '/';
  try {
    const url = new URL(candidate, origin);
    return url.origin === origin ? url.pathname + url.search + url.hash : '/';
  } catch {
    return '/';
  }
}
