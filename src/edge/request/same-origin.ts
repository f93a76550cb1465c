/** Whether a request comes from the site's own pages. A form on another site can forge neither header. */

/** A page of this host, or a client that is no browser. */
export function isSameOrigin({ headers }: Request, host: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  return origin === null || isOriginOf(origin, host);
}

/**
 * Stricter: a request that says nothing about where it comes from does not count. For submissions that the gate holds,
 * because they come back with the visitor's cookies.
 */
export function isOwnPagesSubmission({ headers }: Request, host: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  return origin !== null && isOriginOf(origin, host);
}

function isOriginOf(origin: string, host: string): boolean {
  return origin === `https://${host}` || origin === `http://${host}`;
}
