/**
 * How servers read a path before they look for a file or a route. Written from what the servers do, one step after the
 * other, and independent of how the gate derives its readings: the gate must foresee each of them.
 */
type Step = (path: string) => string;

const decode: Step = (path) =>
  path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
/** IIS reads `%uXXXX`. */
const decodeUnicode: Step = (path) =>
  path.replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
/** A UTF-8 decoder that accepts more bytes than a character needs. `decode` left one character per byte. */
const readOverlong: Step = (path) =>
  path
    .replace(/[\xc0\xc1][\x80-\xbf]/g, (pair) =>
      String.fromCharCode(((pair.charCodeAt(0) & 1) << 6) | (pair.charCodeAt(1) & 63)),
    )
    .replace(/\xe0[\x80\x81][\x80-\xbf]/g, (three) =>
      String.fromCharCode(((three.charCodeAt(1) & 1) << 6) | (three.charCodeAt(2) & 63)),
    );
const withoutParameters: Step = (path) =>
  path
    .split('/')
    .map((segment) => segment.split(';')[0])
    .join('/');
const backslashes: Step = (path) => path.replaceAll('\\', '/');
const untilNul: Step = (path) => path.split('\0')[0] ?? '';
const untilQuery: Step = (path) => path.split('?')[0] ?? '';
const merge: Step = (path) => path.replace(/\/+/g, '/');
/** An empty segment is one that `..` removes. */
const resolve: Step = (path) => {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (isLast) kept.push('');
  });
  return `/${kept.join('/')}`;
};
/** `new URL(request.url, base)` in a Node server. */
const withoutHost: Step = (path) => path.replace(/^\/\/[^/]+/, '');
const lower: Step = (path) => path.toLowerCase();

/** RFC 3986, and what each server does before, after or instead. */
export const servers: Readonly<Record<string, readonly Step[]>> = {
  plain: [resolve],
  nginx: [decode, merge, resolve, untilNul],
  apache: [decode, resolve, merge],
  merging: [merge, resolve, decode],
  php: [decode, untilNul, backslashes, merge, resolve],
  tomcat: [withoutParameters, decode, backslashes, merge, resolve],
  'servlets behind nginx': [decode, merge, resolve, withoutParameters, merge, resolve],
  'parameters last': [decode, resolve, withoutParameters],
  iis: [decodeUnicode, decode, backslashes, merge, resolve, lower],
  lenient: [decode, readOverlong, merge, resolve],
  twice: [decode, resolve, decode, merge, resolve],
  'three times': [decode, decode, decode, merge, resolve],
  rewriting: [decode, untilQuery, merge, resolve],
  node: [withoutHost, resolve, decode],
  express: [lower, decode],
};

export function serverReadings(target: string): string[] {
  const path = target.split('?', 1)[0] ?? '';
  return Object.values(servers).map((steps) => steps.reduce((text, step) => step(text), path));
}
