/**
 * The canonical form of a URL's path, and the other forms in which a server could read it. Canonical is what the URL
 * standard parses, with unreserved `%XX` decoded, other `%XX` in upper case and `//` merged. Paths of requests and the
 * paths of an operator's patterns are compared in this form.
 */

/** The canonical form of a path without its query. */
export function canonicalPath(rawPath: string): string {
  // The parser would read `//host` at the front as an authority, so the path goes behind a fixed host.
  return canonicalSpelling(new URL('http://h' + rawPath).pathname);
}

/** The canonical spelling of a path whose characters are escaped already. Dot segments stay. */
export function canonicalSpelling(path: string): string {
  return spelledEscapes(path).replace(/\/{2,}/g, '/');
}

/** One spelling of a URL's escapes: unreserved characters as they are, every other escape in capitals (RFC 3986, 6.2.2). */
export function spelledEscapes(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}

/**
 * Every way in which an origin could read the path of a request. `request.url` on workerd still holds dot segments and
 * backslashes, a router shows them differently, and `fetch()` sends them resolved; servers decode, cut and clean in their
 * own ways. An attacker can use the difference to slip past a pattern that is matched on one of them.
 */
export interface PathReading {
  path: string;
  /** Holds an encoded separator or dot segment, so it is never exempt. */
  ambiguous: boolean;
  /**
   * Other paths that an origin could read this one as. The strictest policy of all of them applies. `null`: too many to
   * list, so it could be any path.
   */
  readings: readonly string[] | null;
}

/** Matches every path that is not already in canonical form. */
const NOT_PLAIN = /[^!$&-9:=@A-Z_a-z~]|\/[/.]/;
const ENCODED_SEPARATOR_OR_DOTS = /%2f|%5c|(?:\/|\\)(?:%2e|\.%2e|%2e\.)(?:%2e)?(?:[/\\?]|$)/i;
/** Characters and escapes that change what a path means when an origin decodes, cuts or cleans it. */
const READ_OTHERWISE = /[;\\]|\/\/|%(?:[013-7u]|2[1-9a-f]|c[01]|e0%8|f0%80)/i;
const NO_READINGS: readonly string[] = [];
/** Bounds the work for one request to a millisecond or so. A path of 1,000 characters may have 21 spellings, none more than 64. */
const READ_MAX_CHARS = 32_768;
const CHARS_PER_SPELLING = 512;

/** Reads a path as it was received, without its query. */
export function readPath(rawPath: string): PathReading {
  const plain = !NOT_PLAIN.test(rawPath);
  const path = plain ? rawPath : canonicalPath(rawPath);
  return {
    path,
    ambiguous: !plain && ENCODED_SEPARATOR_OR_DOTS.test(rawPath),
    readings: plain || !READ_OTHERWISE.test(rawPath) ? NO_READINGS : otherReadings(rawPath, path),
  };
}

/** What servers do to a path, in any order and number. Each shortens the text or leaves its length. */
const steps: readonly ((text: string) => string)[] = [
  (text) => text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  // IIS reads `%u0061`. A server that does not read overlong UTF-8 as well must be foreseen too, so these are two steps.
  (text) => text.replace(/%u00([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  // Lenient decoders read UTF-8 in more bytes than it needs.
  (text) =>
    text.replace(/%(?:f0%80%8|e0%8|c)([01])%([89ab][0-9a-f])/gi, (_, high: string, low: string) =>
      String.fromCharCode(Number(high) * 64 + (Number.parseInt(low, 16) & 63)),
    ),
  // Parameters of a segment, as in `/admin;v=1/users`.
  (text) => text.replace(/;[^/]*/g, ''),
  (text) => text.replaceAll('\\', '/'),
  (text) => text.replace(/\/{2,}/g, '/'),
  resolved,
  // Some servers parse the path as a URL, and `//x` as its host.
  (text) => text.replace(/^\/{2,}[^/]*/, ''),
  ...['\0', '?', '#'].map((end) => (text: string) => text.split(end, 1)[0] ?? ''),
];

/** Without `.` and `..`. Unlike the URL standard it keeps `\`, and unlike most servers `//`. */
function resolved(text: string): string {
  if (!text.includes('/.')) return text;
  const kept: string[] = [];
  const segments = text.split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else {
      if (segment === '..' && kept.length > 1) kept.pop();
      if (index === segments.length - 1) kept.push('');
    }
  }
  return kept.join('/');
}

function otherReadings(rawPath: string, path: string): string[] | null {
  const texts = new Set([rawPath]);
  const readings = new Set<string>();
  let chars = 0;
  // A set's loop also visits what is added meanwhile.
  for (const text of texts) {
    chars += text.length + CHARS_PER_SPELLING;
    if (chars > READ_MAX_CHARS) return null;
    for (const step of steps) texts.add(step(text));
    const escaped = text.replace(/[?#\\]/g, (sign) => encodeURIComponent(sign));
    readings.add(canonicalPath(escaped));
    // Some origins compare a path without resolving its dots.
    if (text.includes('/.')) readings.add(canonicalSpelling(escaped));
  }
  readings.delete(path);
  return [...readings];
}
