/**
 * To the origin and back (design 3.2): the request is cloned from the original, its body streams,
 * its URL is a concatenation, its redirects are the visitor's, and the origin is called once. What
 * a visitor could have forged is taken off before what the edge vouches for is put on.
 */
import { exposedHeaders, header } from '../../contract/edge/headers.ts';
import type { CanonicalTarget } from '../request/canonical-path.ts';
import { withoutOwnCookies } from '../request/cookies.ts';
import type { OriginTarget } from '../environment.ts';
import type { CompiledConfig } from '../feed/compiled-config.ts';
import type { HeaderFacts } from '../request/header-facts.ts';
import { signForOrigin } from './origin-signature.ts';

/** What the edge tells the origin about a request. */
export interface Vouched {
  requestId: string;
  decision: string;
  verified: boolean;
  ip: string | null;
  /** Epoch milliseconds. */
  nowMs: number;
  /** A preflight carries no cookies; whatever came is not passed on. */
  dropCookies: boolean;
  /** Set where the body had to be read: the same bytes, or those without the token. */
  body: ArrayBuffer | Uint8Array<ArrayBuffer> | null;
}

export function forward(
  request: Request,
  received: HeaderFacts,
  target: CanonicalTarget,
  origin: OriginTarget,
  config: CompiledConfig | null,
  vouched: Vouched,
): Promise<Response> {
  const url = originUrl(target, origin);
  const outgoing =
    vouched.body === null
      ? new Request(url, request)
      : new Request(url, {
          method: request.method,
          headers: request.headers,
          body: vouched.body,
          redirect: 'manual',
          signal: request.signal,
        });
  const { headers } = outgoing;
  for (const name of received.forged) headers.delete(name);
  const { cookie: cookies } = received;
  if (cookies !== null) {
    const kept = vouched.dropCookies ? null : withoutOwnCookies(cookies);
    if (kept === null) headers.delete('cookie');
    else if (kept !== cookies) headers.set('cookie', kept);
  }

  const verified = vouched.verified ? 'true' : 'false';
  headers.set(header.requestId, vouched.requestId);
  headers.set(header.decision, vouched.decision);
  headers.set(header.verified, verified);
  if (vouched.ip !== null) headers.set('x-forwarded-for', vouched.ip);
  headers.set('x-forwarded-host', target.host);
  headers.set('x-forwarded-proto', target.scheme);
  if (config) {
    const { kid, originSignature } = config.keys.current;
    const facts = {
      timestamp: Math.floor(vouched.nowMs / 1000),
      method: request.method,
      target: sentTarget(target),
      requestId: vouched.requestId,
      decision: vouched.decision,
      verified,
      ip: vouched.ip ?? '',
    };
    headers.set(header.signature, signForOrigin(originSignature, kid, facts));
  }

  if (origin.kind === 'binding') return origin.fetcher.fetch(outgoing);
  if (origin.kind === 'url' && origin.resolveOverride !== null) {
    return fetch(outgoing, { cf: { resolveOverride: origin.resolveOverride } });
  }
  return fetch(outgoing);
}

/** The response with the edge's own headers; a 101 is never rewrapped, it would lose its socket. */
export function annotate(
  response: Response,
  requestId: string,
  decision: string,
  status: string | null,
  cookies: readonly string[],
  location: string | null,
): Response {
  if (response.status === 101) return response;
  const annotated = new Response(response.body, response);
  const { headers } = annotated;
  headers.set(header.requestId, requestId);
  headers.set(header.decision, decision);
  if (status !== null) headers.set(header.status, status);
  else headers.delete(header.status);
  if (headers.has('access-control-allow-origin')) {
    headers.append('access-control-expose-headers', exposedHeaders.join(', '));
  }
  if (location !== null) headers.set('location', location);
  for (const value of cookies) headers.append('set-cookie', value);
  if (cookies.length > 0) headers.set('cache-control', 'private, no-store');
  return annotated;
}

/**
 * `Location` for the visitor when the origin named itself, else `null`: an origin behind the gate
 * often does not know the public name, and must not send people around the gate.
 */
export function visitorLocation(response: Response, target: CanonicalTarget, origin: OriginTarget): string | null {
  if (response.status < 300 || response.status >= 400 || origin.kind === 'zone' || origin.base === null) return null;
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location)) return null;
  const named = new URL(location);
  const { host, pathname } = new URL(origin.base);
  const namesOrigin = named.host === host && host !== target.host;
  if (!namesOrigin || (named.protocol !== 'http:' && named.protocol !== 'https:')) return null;
  const basePath = pathname.replace(/\/$/, '');
  if (basePath !== '' && named.pathname !== basePath && !named.pathname.startsWith(`${basePath}/`)) return null;
  const rest = location.slice(location.indexOf(named.host) + named.host.length + basePath.length);
  return `${target.scheme}://${target.host}${rest.startsWith('/') ? rest : `/${rest}`}`;
}

function originUrl(target: CanonicalTarget, origin: OriginTarget): string {
  const base = origin.kind === 'zone' ? null : origin.base;
  return (base ?? `${target.scheme}://${target.host}`) + target.received;
}

/** The target as `fetch()` serialises it; plain targets are already in that form. */
function sentTarget(target: CanonicalTarget): string {
  if (target.path + target.query === target.received && !/[^!-~]|["'<>\\]/.test(target.query)) return target.received;
  const sent = new URL('http://h' + target.received);
  const mark = sent.search === '' && target.query === '?' ? '?' : '';
  return sent.pathname + sent.search + mark;
}
