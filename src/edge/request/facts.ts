/**
 * What one request shows. Read once, before anything is decided, and frozen: no later step changes what an earlier
 * one saw.
 */
import { newEventId } from '../../logsink/event-id.ts';
import type { EdgeEnvironment } from '../environment.ts';
import { type CanonicalTarget, canonicalTarget, UNROUTABLE } from './canonical-path.ts';
import { isSecureContext } from '../../risk/headers/request-facts.ts';
import { type HeaderFacts, readHeaders } from './header-facts.ts';
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
