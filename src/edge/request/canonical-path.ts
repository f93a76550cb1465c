/**
 * The one canonical path. `request.url` on workerd still holds dot segments and backslashes, a router shows them
 * differently, and `fetch()` sends them resolved. An attacker can use the difference to slip past a pattern that is
 * matched on any of the three. The canonical path is the URL standard's parse with unreserved `%XX` decoded, other
 * `%XX` in upper case and `//` merged. Patterns, exemptions and rules see only this path.
 */

export interface CanonicalTarget {
  scheme: 'http' | 'https';
  /** Lower-cased by the runtime; with the port when the visitor named one. */
  host: string;
  path: string;
  /** Path and query exactly as received. The origin URL is concatenated from it. */
  received: string;
  /** `?…` as received, or empty. */
  query: string;
  /** Holds an encoded separator or dot segment, so it is never exempt. */
  ambiguous: boolean;
  /** Other paths that an origin could read this one as. The strictest policy of all of them applies. */
  readings: readonly string[];
}

/** RFC 1035 section 2.3.4. */
const HOST_MAX_CHARS = 255;
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
/** Matches every path that is not already in canonical form. */
const NOT_PLAIN = /[^!$&-9:=@A-Z_a-z~]|\/[/.]/;
const ENCODED_SEPARATOR_OR_DOTS = /%2f|%5c|(?:\/|\\)(?:%2e|\.%2e|%2e\.)(?:%2e)?(?:[/\\?]|$)/i;
/** Delimiters that some origins honour although the URL standard does not: `;x`, `%3b`, `%3f`, `%23`, `%25`, NUL. */
const LOOSE_DELIMITER = /;|%(?:2[35ef]|3[bf]|5c|00)/i;
const NO_READINGS: readonly string[] = [];
/** Attacks use double and triple encoding. Each pass shortens the text. */
const DECODE_PASSES_MAX = 3;

/** Stands in for the target of a request that names no path of a host. */
export const UNROUTABLE: CanonicalTarget = {
  scheme: 'http',
  host: '',
  path: '',
  received: '/',
  query: '',
  ambiguous: true,
  readings: NO_READINGS,
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
  const plain = !NOT_PLAIN.test(rawPath);
  const path = plain ? rawPath : canonicalPath(rawPath);
  return {
    scheme: secure ? 'https' : 'http',
    host,
    path,
    received: url.slice(pathStart),
    query: queryStart < 0 ? '' : url.slice(queryStart),
    ambiguous: !plain && ENCODED_SEPARATOR_OR_DOTS.test(rawPath),
    readings: plain || !LOOSE_DELIMITER.test(rawPath) ? NO_READINGS : otherReadings(rawPath, path),
  };
}

/** The canonical form of a path without its query. */
export function canonicalPath(rawPath: string): string {
  // The parser would read `//host` at the front as an authority, so the path goes behind a fixed host.
  const parsed = new URL('http://h' + rawPath).pathname;
  return parsed
    .replace(/%([0-9a-f]{2})/gi, (escape, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16));
      return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase();
    })
    .replace(/\/{2,}/g, '/');
}

function otherReadings(rawPath: string, path: string): string[] {
  let decoded = rawPath;
  for (let pass = 0; pass < DECODE_PASSES_MAX && decoded.includes('%'); pass++) {
    decoded = decoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  const cut = decoded.search(/[?#\0]/);
  const truncated = cut < 0 ? decoded : decoded.slice(0, cut);
  const candidates = [decoded, truncated, truncated.replace(/;[^/\\]*/g, ''), rawPath.replace(/;[^/\\]*/g, '')];
  const readings = new Set<string>();
  for (const candidate of candidates) {
    const reading = canonicalPath(candidate.replace(/[?#]/g, (sign) => (sign === '?' ? '%3F' : '%23')));
    if (reading !== path) readings.add(reading);
  }
  return [...readings];
}
