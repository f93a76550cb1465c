/**
 * Whether a page of the console made a request. A browser says so itself in `Sec-Fetch-Site`, which no page can set; an
 * older one sends `Origin`. Every call with a cookie needs this, reading calls too: a page of another site can start a
 * request with a cookie, but not one that passes here.
 */
import type { ConsolePlace } from '../sign-in-variables.ts';

export function isFromConsole(request: Request, place: ConsolePlace): boolean {
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  if (origin !== null && origin !== place.origin) return false;
  return site === null ? origin !== null : site === 'same-origin';
}
