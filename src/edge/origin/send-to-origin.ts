/**
 * To the origin and back. The request is a copy of the original, its body streams, its URL is a concatenation, and
 * redirects go to the visitor. Headers that a visitor could have forged are removed before the edge adds its own.
 */
import { exposedHeaders, header } from '../../contract/edge/headers.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RequestContext } from '../decide/context.ts';
import type { OriginTarget } from '../environment.ts';
import type { CanonicalTarget } from '../../decide/request-target.ts';
import { readOwnCookies } from '../request/cookies.ts';
import type { RequestFacts } from '../request/facts.ts';
import { headerKey, isNavigation } from '../request/header-facts.ts';
import { tellRefusedSession, tellWorkDue } from '../session/sessions.ts';
import { signForOrigin } from './origin-signature.ts';

/**
 * What no browser sends with a preflight, in `headerKey` spelling: a body, another method, and whatever shows who calls.
 * An origin that answers `OPTIONS` like `GET` would let a script act and read past a challenge.
 */
const NOT_IN_PREFLIGHT = /^(?:content-|transfer-encoding|x-(?:http-)?method)|cookie|auth|key|token/;

/** What the edge tells the origin about a request, and what it holds back. */
export interface Vouched {
  decision: string;
  /** The visitor solved a challenge, now or for the clearance that they show. */
  hasSolved: boolean;
  /** It asks a question only, so nothing else goes on with it and no page comes back. */
  preflight: boolean;
  /** Set where the body had to be read: the same bytes, or those without the token. */
  body: Uint8Array<ArrayBuffer> | null;
  /** Gives up on a request of the edge's own. */
  signal?: AbortSignal;
}

export function sendToOrigin(
  facts: RequestFacts,
  origin: OriginTarget,
  config: CompiledConfig | null,
  vouched: Vouched,
): Promise<Response> {
  const { request } = facts;
  const url = originUrl(facts.target, origin);
  if (origin.kind !== 'binding' && isHeadersOnly(facts, vouched)) {
    // The runtime copies all headers in one step, to the letter, and this costs half of what a copied request does.
    const headers = new Headers(request.headers);
    writeHeaders(headers, facts, config, vouched);
    const init: RequestInit = { method: facts.headers.method, headers, redirect: 'manual', ...routing(origin) };
    return fetch(url, vouched.signal ? { ...init, signal: vouched.signal } : init);
  }
  const { method, signal } = request;
  const { body, preflight } = vouched;
  const outgoing =
    body === null && !preflight
      ? new Request(url, request)
      : new Request(url, { method, headers: request.headers, body, redirect: 'manual', signal });
  writeHeaders(outgoing.headers, facts, config, vouched);
  return origin.kind === 'binding' ? origin.fetcher.fetch(outgoing) : fetch(outgoing, routing(origin));
}

/** A request that is nothing but its first line and its headers. A bound Worker also sees `request.cf`. */
function isHeadersOnly(
  { request, headers: { method, webSocket } }: RequestFacts,
  { body, preflight }: Vouched,
): boolean {
  return (method === 'GET' || method === 'HEAD') && body === null && !preflight && !webSocket && request.body === null;
}

function routing(origin: OriginTarget): { cf: { resolveOverride: string } } | undefined {
  if (origin.kind !== 'url' || origin.resolveOverride === null) return undefined;
  return { cf: { resolveOverride: origin.resolveOverride } };
}

/** From the visitor's headers to those that the origin gets. */
function writeHeaders(headers: Headers, facts: RequestFacts, config: CompiledConfig | null, vouched: Vouched): void {
  const { target, headers: received, signals, requestId, nowMs } = facts;
  const { preflight } = vouched;
  for (const name of received.forged) headers.delete(name);
  if (preflight) {
    for (const name of facts.request.headers.keys()) if (NOT_IN_PREFLIGHT.test(headerKey(name))) headers.delete(name);
  }
  const { cookie: cookies } = received;
  if (cookies !== null) {
    const kept = preflight ? null : readOwnCookies(cookies).others;
    if (kept === null) headers.delete('cookie');
    else if (kept !== cookies) headers.set('cookie', kept);
  }

  const verified = vouched.hasSolved ? 'true' : 'false';
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
      method: received.method,
      target: sentTarget(target),
      requestId,
      decision: vouched.decision,
      verified,
      ip: signals.ip ?? '',
    };
    headers.set(header.signature, signForOrigin(originSignature, kid, signed));
  }
}

/** The last that the runtime makes a response with. It passes on others as they came. */
const STATUS_MAX = 599;

/**
 * The response with the edge's own headers. A 101 is never wrapped again, because that would lose its socket, and neither
 * is a status that is none.
 */
export function annotated(
  response: Response,
  { facts, verdict, cookies, config, effects }: RequestContext,
  origin: OriginTarget,
): Response {
  const preflight = verdict.source === 'preflight';
  const isConstructible = response.status !== 101 && response.status <= STATUS_MAX;
  if (!preflight && !isConstructible) return response;
  if (preflight) void response.body?.cancel();
  // No page comes with the answer to a preflight, not even one of a status that exists nowhere.
  const head = isConstructible ? response : { status: 502, headers: response.headers };
  const wrapped = new Response(preflight ? null : response.body, head);
  const { headers } = wrapped;
  if (preflight) for (const name of ['content-length', 'content-encoding', 'set-cookie']) headers.delete(name);
  headers.set(header.requestId, facts.requestId);
  headers.set(header.decision, verdict.decision);
  if (verdict.status !== null) headers.set(header.status, verdict.status);
  else headers.delete(header.status);
  if (headers.has('access-control-allow-origin')) {
    headers.append('access-control-expose-headers', exposedHeaders.join(', '));
  }
  const usage = config?.contentUsage;
  if (usage && verdict.enforcementPolicy === 'enforce' && !headers.has('content-usage')) {
    headers.set('content-usage', usage);
  }
  showVisitorAddresses(headers, facts.target, origin);
  for (const value of cookies) headers.append('set-cookie', value);
  if (cookies.length > 0) headers.set('cache-control', 'private, no-store');
  if (isNavigation(facts.headers)) tellRefusedSession(headers, verdict.sessionStatus);
  tellWorkDue(headers, effects);
  return wrapped;
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

/** What a header has before, as and after an address (RFC 9110 section 10.2.2, RFC 8288, HTML section 4.2.5.3). */
const ADDRESSED: readonly [name: string, address: RegExp][] = [
  ['location', /^()([^]*)()$/],
  ['content-location', /^()([^]*)()$/],
  ['refresh', /^([^;,]*[;,]\s*(?:url\s*=\s*)?["']?)([^"']+)()/i],
  ['link', /(<)([^<>]*)(>)/g],
];
const NAMES_A_HOST = /^\s*(?:https?:)?[/\\]{2}/i;

/** `Alt-Svc` offers another way to the origin itself, on which nothing would pass the gate. */
export function showVisitorAddresses(headers: Headers, target: CanonicalTarget, origin: OriginTarget): void {
  if (origin.kind === 'zone') return;
  headers.delete('alt-svc');
  for (const [name, pattern] of ADDRESSED) {
    const value = headers.get(name);
    const shown = value?.replace(
      pattern,
      (_, before: string, address: string, after: string) =>
        `${before}${addressForVisitor(address, target, origin)}${after}`,
    );
    if (shown !== undefined && shown !== value) headers.set(name, shown);
  }
}

/** The same address, except where it names the origin. */
export function addressForVisitor(address: string, target: CanonicalTarget, { base }: { base: string | null }): string {
  if (base === null || !NAMES_A_HOST.test(address) || !URL.canParse(address, base)) return address;
  const named = new URL(address, base);
  const { host, pathname } = new URL(base);
  if (withoutDot(named) !== host || host === target.host) return address;
  const basePath = pathname.replace(/\/$/, '');
  if (!`${named.pathname}/`.startsWith(`${basePath}/`)) return address;
  const path = named.pathname.slice(basePath.length) || '/';
  return `${target.scheme}://${target.host}${path}${named.search}${named.hash}`;
}

/** A full name may end with a dot. */
function withoutDot({ host }: URL): string {
  return host.replace(/\.(?=:|$)/, '');
}
