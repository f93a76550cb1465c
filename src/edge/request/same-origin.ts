/** Whether a request comes from the site's own pages. A form on another site can forge neither header. */

/**
 * `unknown`: whether a request counts that says nothing about where it comes from, as clients that are no browser do. It
 * must not count for submissions that the gate holds, because they come back with the visitor's cookies.
 */
export function isSameOrigin({ headers }: Request, host: string, unknown: boolean): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  return origin === null ? unknown : origin === `https://${host}` || origin === `http://${host}`;
}
