/**
 * To the origin and back. The request is cloned from the original, its body streams, its URL is a concatenation, and
 * redirects go to the visitor. Headers that a visitor could have forged are removed before the edge adds its own.
 */
import { exposedHeaders, header } from '../../contract/edge/headers.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RequestContext } from '../decide/context.ts';
import type { OriginTarget } from '../environment.ts';
import type { CanonicalTarget } from '../request/canonical-path.ts';
import { withoutOwnCookies } from '../request/cookies.ts';
import type { RequestFacts } from '../request/facts.ts';
import { signForOrigin } from './origin-signature.ts';

/** What the edge tells the origin about a request, and what it holds back. */
export interface Vouched {
  decision: string;
  verified: boolean;
  /** A preflight carries no cookies; any that came are not passed on. */
  dropCookies: boolean;
  /** Set where the body had to be read: the same bytes, or those without the token. */
  body: Uint8Array<ArrayBuffer> | null;
}

export function sendToOrigin(
  facts: RequestFacts,
  origin: OriginTarget,
  config: CompiledConfig | null,
  vouched: Vouched,
): Promise<Response> {
  const { request, target, headers: received, signals, requestId, nowMs } = facts;
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
  headers.set(header.requestId, requestId);
  headers.set(header.decision, vouched.decision);
  headers.set(header.verified, verified);
  if (signals.ip !== null) headers.set('x-forwarded-for', signals.ip);
  headers.set('x-forwarded-host', target.host);
  headers.set('x-forwarded-proto', target.scheme);
  if (config) {
    const { kid, originSignature } = config.keys.current;
    const signed = {
      timestamp: Math.floor(nowMs / 1000),
      method: request.method,
      target: sentTarget(target),
      requestId,
      decision: vouched.decision,
      verified,
      ip: signals.ip ?? '',
    };
    headers.set(header.signature, signForOrigin(originSignature, kid, signed));
  }

  if (origin.kind === 'binding') return origin.fetcher.fetch(outgoing);
  if (origin.kind === 'url' && origin.resolveOverride !== null) {
    return fetch(outgoing, { cf: { resolveOverride: origin.resolveOverride } });
  }
  return fetch(outgoing);
}

/** The response with the edge's own headers. A 101 is never wrapped again, because that would lose its socket. */
export function annotated(
  response: Response,
  { facts, verdict, cookies }: RequestContext,
  location: string | null,
): Response {
  if (response.status === 101) return response;
  const wrapped = new Response(response.body, response);
  const { headers } = wrapped;
  headers.set(header.requestId, facts.requestId);
  headers.set(header.decision, verdict.decision);
  if (verdict.status !== null) headers.set(header.status, verdict.status);
  else headers.delete(header.status);
  if (headers.has('access-control-allow-origin')) {
    headers.append('access-control-expose-headers', exposedHeaders.join(', '));
  }
  if (location !== null) headers.set('location', location);
  for (const value of cookies) headers.append('set-cookie', value);
  if (cookies.length > 0) headers.set('cache-control', 'private, no-store');
  return wrapped;
}

/**
 * `Location` for the visitor where the origin named itself, else `null`. An origin behind the gate often does not know
 * the public name, and must not send visitors past the gate.
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

/** The target as `fetch()` serialises it. Plain targets are in that form already. */
function sentTarget(target: CanonicalTarget): string {
  if (target.path + target.query === target.received && !/[^!-~]|["'<>\\]/.test(target.query)) return target.received;
  const sent = new URL('http://h' + target.received);
  const mark = sent.search === '' && target.query === '?' ? '?' : '';
  return sent.pathname + sent.search + mark;
}
