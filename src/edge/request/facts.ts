/**
 * What one request shows. Read once, before anything is decided, and frozen: no later step changes what an earlier
 * one saw.
 */
import { hostName } from '../../address/host-name.ts';
import { type KeySource, pathKey } from '../../limits/limit-keys.ts';
import { newEventId } from '../../logsink/event-id.ts';
import type { EdgeEnvironment } from '../environment.ts';
import { UNROUTABLE, canonicalTarget, type CanonicalTarget } from '../../decide/request-target.ts';
import { isSecureContext } from '../../risk/headers/request-facts.ts';
import { readCookie } from './cookies.ts';
import { readHeaders, type HeaderFacts } from './header-facts.ts';
import type { IpCategories } from './ip-categories.ts';
import { readSignals, type Signals } from './signals.ts';

export interface RequestFacts {
  /** The record's event id and the reference a visitor can quote: one finds the other. */
  readonly requestId: string;
  readonly request: Request;
  /** Arrival, epoch milliseconds. */
  readonly nowMs: number;
  /** `UNROUTABLE` where the request names no path of a host. */
  readonly target: CanonicalTarget;
  readonly headers: Readonly<HeaderFacts>;
  readonly signals: Signals;
}

export interface SignalSource {
  readonly environment: Pick<EdgeEnvironment, 'signals'>;
  readonly categories: IpCategories;
}

export function readFacts(request: Request, nowMs: number, { environment, categories }: SignalSource): RequestFacts {
  const { cf: platform } = request;
  const target = canonicalTarget(request.url) ?? UNROUTABLE;
  const headers = readHeaders(request, isSecureContext(target));
  if (environment.signals.kind === 'cloudflare')
    headers.acceptEncoding = sentEncoding(platform) ?? headers.acceptEncoding;
  return Object.freeze({
    requestId: newEventId(nowMs),
    request,
    nowMs,
    target,
    headers,
    signals: readSignals(headers, platform, environment.signals, categories),
  });
}

/** The facts of a request that takes the place of the one that carried it. Who sent it stays the same. */
export function replacedRequest(facts: RequestFacts, request: Request, target: CanonicalTarget): RequestFacts {
  return Object.freeze({ ...facts, request, target, headers: readHeaders(request, facts.headers.secure) });
}

/** Cloudflare writes an `Accept-Encoding` of its own and keeps the visitor's here. */
function sentEncoding(platform: Request['cf']): string | undefined {
  const { colo, clientAcceptEncoding } = (platform ?? {}) as { colo?: string; clientAcceptEncoding?: string };
  return colo === undefined ? undefined : clientAcceptEncoding;
}

/**
 * Whether a browser sends a form with `enctype="text/plain"`: the interstitial's, which brings a held submission back, and
 * hardly any other. A script's text has a charset.
 */
export function isTextForm({ request, headers }: RequestFacts): boolean {
  return (
    headers.method === 'POST' &&
    request.headers.get('content-type') === 'text/plain' &&
    (headers.fetchMode === null ? request.headers.has('origin') : headers.fetchMode === 'navigate')
  );
}

/**
 * Whether a request comes from the site's own pages. A form on another site can forge neither header.
 * `unknown`: whether a request counts that says nothing about where it comes from, as clients that are no browser do. It
 * must not count for submissions that the gate holds, because they come back with the visitor's cookies.
 */
export function isSameOrigin({ headers }: Request, host: string, unknown: boolean): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  return origin === null ? unknown : origin === `https://${host}` || origin === `http://${host}`;
}

/** What limits count by. `jti`: of the session, else of the clearance. A form's users are added where a limit counts by them. */
export function keySourceOf(
  { request, target, headers, signals }: RequestFacts,
  jti: string | null,
  bot: string | null,
): KeySource {
  return {
    ip: signals.ip,
    asn: signals.asn,
    country: signals.countryCode,
    ja4: signals.ja4,
    session: jti,
    bot,
    path: pathKey([target.path, ...(target.readings ?? [])]),
    host: hostName(target.host),
    header: (name) => request.headers.get(name),
    cookie: (name) => readCookie(headers.cookie, name),
    users: [],
  };
}
