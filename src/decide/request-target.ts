/**
 * What a request asks for: host, query, and the one canonical path, which is the URL standard's parse with unreserved
 * `%XX` decoded, other `%XX` in upper case and `//` merged. Patterns and exemptions see this path, and every other way in
 * which an origin could read what it receives.
 */
import { canonicalPath, type PathReading, readPath } from '../bytes/url-path.ts';

export interface CanonicalTarget extends PathReading {
  scheme: 'http' | 'https';
  /** Lower-cased by the runtime; with the port when the visitor named one. */
  host: string;
  /** Path and query exactly as received. The origin URL is concatenated from it. */
  received: string;
  /** `?…` as received, or empty. */
  query: string;
}

/** RFC 1035 section 2.3.4. */
const HOST_MAX_CHARS = 255;
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Stands in for the target of a request that names no path of a host. */
export const UNROUTABLE: CanonicalTarget = {
  scheme: 'http',
  host: '',
  path: '',
  received: '/',
  query: '',
  ambiguous: true,
  readings: [],
};

/** `null`: the request names no path of a host (`OPTIONS *`, a malformed authority). */
export function canonicalTarget(url: string): CanonicalTarget | null {
  const secure = url.startsWith('https://');
  const hostStart = secure ? 8 : 7;
  const pathStart = url.indexOf('/', hostStart);
  if (pathStart < 0) return null;
  const host = url.slice(hostStart, pathStart);
  if (host.length > HOST_MAX_CHARS || !HOST.test(host)) return null;

  const queryStart = url.indexOf('?', pathStart);
  const rawPath = queryStart < 0 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const { path, ambiguous, readings } = readPath(rawPath);
  return {
    scheme: secure ? 'https' : 'http',
    host,
    path,
    received: url.slice(pathStart),
    query: queryStart < 0 ? '' : url.slice(queryStart),
    ambiguous,
    readings,
  };
}

/**
 * Path and query as a reference that stays on this host. One that begins with two slashes would name another; a browser
 * resolves `/.` in front of it away.
 */
export function ownReference(received: string): string {
  return /^\/[/\\]/.test(received) ? `/.${received}` : received;
}

/**
 * Whether a request is for the page that a redirect leads to, so that a policy for every path does not send that page to
 * itself without end. Location and request are compared as the URL standard reads them, because a browser follows a location
 * in that form. The scheme does not count: a proxy may speak http to the Worker.
 */
export function isAt(
  { host, path, query }: Pick<CanonicalTarget, 'host' | 'path' | 'query'>,
  location: string,
): boolean {
  const own = URL.parse(`https://${host}/${query}`);
  const page = own && URL.parse(location, own);
  return (
    page !== null && page.host === own!.host && page.search === own!.search && canonicalPath(page.pathname) === path
  );
}
