/**
 * Where a visitor goes after passing: only to a path of the same origin. A challenge page must not become an open
 * redirect or run a `javascript:` address (GHSA-jhjj-2g64-px7c). The edge checks the address too; this is the second
 * check, right before the navigation.
 */

/**
 * The whole address to open: of the front page for anything that is not clearly a path of this origin. Never a path
 * alone, because a browser takes `//x` for a host.
 */
export function safeReturnTarget(candidate: string, origin: string): string {
  const target = URL.canParse(origin + candidate) ? new URL(origin + candidate) : null;
  const isPath = /^\/[\x21-\x7e\x80-\uffff]*$/.test(candidate);
  return isPath && target?.origin === origin ? target.href : `${origin}/`;
}
