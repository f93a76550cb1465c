/**
 * Where a visitor goes after passing. Only a path of this very origin: a challenge page must never
 * become an open redirect or a `javascript:` sink (GHSA-jhjj-2g64-px7c). The edge checks first;
 * this is the second lock, beside the door itself.
 */

/** The address to open, or `/` for anything that is not plainly a path here. */
export function safeReturnTarget(candidate: string, origin: string): string {
  if (!/^\/(?![/\\])/.test(candidate) || !/^[\x21-\x7e\x80-\uffff]*$/.test(candidate)) return '/';
  try {
    const url = new URL(candidate, origin);
    return url.origin === origin ? url.pathname + url.search + url.hash : '/';
  } catch {
    return '/';
  }
}
