/**
 * The one form of a URL's path: what the URL standard parses, with unreserved `%XX` decoded, other `%XX` in upper case and
 * `//` merged. Paths of requests and the paths of an operator's patterns are compared in this form.
 */
import { spelledEscapes } from './percent-escapes.ts';

/** Of a path without its query. */
export function canonicalPath(rawPath: string): string {
  // The parser would read `//host` at the front as an authority, so the path goes behind a fixed host.
  return canonicalSpelling(new URL('http://h' + rawPath).pathname);
}

/** Of a path whose characters are escaped already. Dot segments stay. */
export function canonicalSpelling(path: string): string {
  return spelledEscapes(path).replace(/\/{2,}/g, '/');
}
