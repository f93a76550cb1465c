/**
 * The budget of a network's visitors without a session. A page takes from it when it is asked for. What a page loads is
 * asked for dozens of times before the first session is open, so it has a budget of its own, a hundred times as large.
 * Anyone can write that they ask for a picture, so the response decides what it was: a page that was asked for as a file
 * takes from the pages' budget, and is not handed out where that is used up. A network that goes on gets no files either.
 */
import { neighboursOf } from '../../address/networks.ts';
import type { CountedMeter } from '../config/compiled-limits.ts';
import type { LimitCounts } from './limit-counts.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { HeaderFacts } from '../request/header-facts.ts';

export const PENDING_WINDOW_MS = 600_000;
/** A town or a provider around the network. */
const FAR_TIMES = 10;
/** A large page loads about that many files before its session is open. */
const FILES_PER_PAGE = 100;
/** Pages of a network that were asked for, those that were withheld included. Beyond it, files are challenged as well. */
const WITHHELD_TIMES = 2;

/** The share of a budget that one isolate may use before the ledger has heard of it. */
const UNCONFIRMED_SHARE = 6;

export type PendingKind = 'page' | 'file';

export class PendingBudget {
  readonly #counts: LimitCounts;

  constructor(counts: LimitCounts) {
    this.#counts = counts;
  }

  /** `budget`: pages of a near network. */
  hasRoom(kind: PendingKind, ip: string | null, budget: number, nowMs: number): boolean {
    const within = (counted: PendingKind, limit: number): boolean =>
      keysOf(counted, ip).every(
        (key, index) => this.#counts.waitMs(key, meterOf(limit * (index === 0 ? 1 : FAR_TIMES)), nowMs) === 0,
      );
    if (kind === 'page') return within('page', budget);
    return within('file', budget * FILES_PER_PAGE) && within('page', budget * WITHHELD_TIMES);
  }

  take(kind: PendingKind, ip: string | null, nowMs: number): void {
    for (const key of keysOf(kind, ip)) this.#counts.take(key, meterOf(1), nowMs);
  }

  /** Whether the response to a request for a file is a page that the network has no budget for. A page takes from it. */
  withholds(response: Response, { headers, signals: { ip }, nowMs }: RequestFacts, budget: number): boolean {
    if (!isPageResponse(response, headers)) return false;
    const hasRoom = this.hasRoom('page', ip, budget, nowMs);
    this.take('page', ip, nowMs);
    return !hasRoom;
  }
}

/** What is counted does not depend on the budget. */
function meterOf(count: number): CountedMeter {
  return { count, windowMs: PENDING_WINDOW_MS, isBucket: false, leash: Math.ceil(count / UNCONFIRMED_SHARE) };
}

function keysOf(kind: PendingKind, ip: string | null): string[] {
  const { near, around } = neighboursOf(ip);
  // The same where the address is unknown.
  return [...new Set([near, around])].map((prefix) => `${kind} ${prefix}`);
}

/** What a visitor without a session asks for, as their request says, and what it was, as the response shows. */
const PAGE_DESTINATION = /^(?:document|iframe|frame|fencedframe|object|embed)$/;
/** What elements of a page load. Everything else has content that is worth collecting: pages, data, texts. */
const FILE_TYPE =
  /^(?:image|font|audio|video)\/|^text\/(?:css|javascript|vtt)|^application\/(?:(?:x-)?javascript|ecmascript|wasm|manifest\+json|(?:x-)?font-|vnd\.ms-fontobject|octet-stream|(?:x-|vnd\.apple\.)mpegurl|dash\+xml)/i;
const BODILESS = new Set([204, 205]);

type Asked = Pick<HeaderFacts, 'fetchDest' | 'accept'>;

/** A browser that asks for a page says so in `Accept`, whatever else it says. */
export function askedFor({ fetchDest, accept }: Asked): PendingKind {
  return PAGE_DESTINATION.test(fetchDest ?? '') || accept?.includes('text/html') === true ? 'page' : 'file';
}

/** Redirects, errors and unchanged files hold nothing of the site. */
export function isPageResponse(response: Response, asked: Asked): boolean {
  const { status } = response;
  return status >= 200 && status <= 299 && !BODILESS.has(status) && !isFileResponse(response, asked);
}

/** What elements of a page load, also when it has not changed. */
export function isFileResponse({ status, headers }: Response, { fetchDest }: Asked): boolean {
  const type = headers.get('content-type') ?? '';
  if (status === 304 || FILE_TYPE.test(type)) return true;
  // Browsers read the manifest without cookies on every visit, often as plain JSON.
  return fetchDest === 'manifest' && /^application\/json/i.test(type);
}
