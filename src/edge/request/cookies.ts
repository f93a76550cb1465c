/**
 * Reads and removes cookies in the raw `Cookie` header. The hot path needs at most two of them, so the header is searched
 * and never parsed. Everything else the visitor sent reaches the origin byte for byte. What the last header held is
 * remembered, because a page's requests come one after another.
 *
 * `hono/cookie` reads otherwise, in ways that attackers would use. It keeps the first cookie of a name, so that a bad one
 * of another host of the domain would hide the good session. It splits at semicolons alone, though a runtime joins two
 * headers by a comma. It drops a value with a quote or a byte above ASCII, which an origin reads and a limit must count.
 */
import { cookie } from '../../contract/edge/headers.ts';

/** A semicolon ends a cookie, and so does a comma, where the runtime joined two `Cookie` headers. Our values hold neither. */
const OWN = new RegExp(`(?:^|[;,])[ \\t]*(?:${cookie.session}|${cookie.clearance})[ \\t]*(?:=[^;,]*)?(?=[;,]|$)`, 'g');

/** What a header holds for the edge, and for the origin. */
export interface OwnCookies {
  /** Values of the session's cookie, in the header's order. */
  readonly sessions: readonly string[];
  readonly clearance: string | null;
  /** The header without the edge's own cookies; `null` when nothing is left. */
  readonly others: string | null;
}

const NO_COOKIES: OwnCookies = { sessions: [], clearance: null, others: null };
/** Another host of the domain can put many bad cookies in front of the good one. As many as fit in a header of 16 KiB. */
const SAME_NAME_MAX = 1000;
let last: { header: string; own: OwnCookies } | null = null;

export function readOwnCookies(header: string | null): OwnCookies {
  if (header === null) return NO_COOKIES;
  if (last?.header === header) return last.own;
  const own = {
    sessions: readCookies(header, cookie.session, SAME_NAME_MAX),
    clearance: readCookie(header, cookie.clearance),
    others: withoutOwnCookies(header),
  };
  last = { header, own };
  return own;
}

/** Value of the first cookie of that name, or `null`. */
export function readCookie(header: string | null, name: string): string | null {
  return readCookies(header, name, 1)[0] ?? null;
}

/**
 * Values of the first `most` cookies of that name, in the header's order: a browser sends two where one was set for
 * the host and one for its domain.
 */
export function readCookies(header: string | null, name: string, most: number): string[] {
  const values: string[] = [];
  if (header === null) return values;
  let from = 0;
  while (values.length < most) {
    const at = header.indexOf(name, from);
    if (at < 0) break;
    from = at + name.length;
    if (startsCookie(header, at) && header.charCodeAt(from) === 61) {
      const rest = header.slice(from + 1);
      const end = rest.search(/[;,]/);
      values.push(unquote((end < 0 ? rest : rest.slice(0, end)).trim()));
    }
  }
  return values;
}

/** The header without the edge's own cookies; `null` when nothing is left or there was none. */
export function withoutOwnCookies(header: string): string | null {
  if (!header.includes(cookie.session) && !header.includes(cookie.clearance)) return header;
  const rest = header.replace(OWN, '').replace(/^[;,]/, '').trim();
  return rest === '' ? null : rest;
}

/** Only spaces and tabs stand between a separator and a name. */
function startsCookie(header: string, at: number): boolean {
  let index = at - 1;
  while (index >= 0 && (header.charCodeAt(index) === 32 || header.charCodeAt(index) === 9)) index--;
  return index < 0 || header.charCodeAt(index) === 59 || header.charCodeAt(index) === 44;
}

function unquote(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}
