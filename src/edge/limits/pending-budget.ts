/**
 * The budget of a network's visitors without a session. A page takes from it when it is asked for. What a page loads is
 * asked for dozens of times before the first session is open, so it has a budget of its own, a hundred times as large.
 * Anyone can write that they ask for a picture, so the response decides what it was: a page that was asked for as a file
 * takes from the pages' budget, and is not handed out where that is used up. A network that goes on gets no files either.
 * Each address has a reserve beside it, which its neighbours cannot use up and which takes nothing of theirs.
 */
import { neighboursOf, ownAddress } from '../../address/networks.ts';
import { WindowCounts } from '../../bytes/window-counts.ts';
import type { CanonicalTarget } from '../../decide/request-target.ts';
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

/** The first page of a visitor and one more, until their session is open. */
const RESERVED_PAGES = 2;
/** All reserves of a network together, in budgets, so that somebody with every address of a /24 gets three. */
const RESERVES_TIMES = 2;

/** The share of a budget that one isolate may use before the ledger has heard of it. */
const UNCONFIRMED_SHARE = 6;

/** `frame`: a page that another site's page shows within itself. It counts as a page, and takes from no reserve. */
export type PendingKind = 'page' | 'frame' | 'file';

type Counted = Exclude<PendingKind, 'frame'>;

export class PendingBudget {
  readonly #counts: LimitCounts;
  /** Counted in this isolate. What they are together is counted over all isolates. */
  readonly #reserves: Readonly<Record<Counted, WindowCounts>> = {
    page: new WindowCounts(RESERVED_PAGES, PENDING_WINDOW_MS),
    file: new WindowCounts(RESERVED_PAGES * FILES_PER_PAGE, PENDING_WINDOW_MS),
  };
  /** Pages of an address that were asked for as files. An address that does that has no reserve of files any more. */
  readonly #withheld = new WindowCounts(RESERVED_PAGES, PENDING_WINDOW_MS);

  constructor(counts: LimitCounts) {
    this.#counts = counts;
  }

  /** `budget`: pages of a near network. */
  hasRoom(kind: PendingKind, ip: string | null, budget: number, nowMs: number): boolean {
    if (this.#hasReserve(kind, ip, budget, nowMs)) return true;
    if (kind !== 'file') return this.#isWithin('page', ip, budget, nowMs);
    const isWithin = this.#isWithin('file', ip, budget * FILES_PER_PAGE, nowMs);
    return isWithin && this.#isWithin('page', ip, budget * WITHHELD_TIMES, nowMs);
  }

  take(kind: PendingKind, ip: string | null, budget: number, nowMs: number): void {
    const counted = kind === 'frame' ? 'page' : kind;
    const isReserved = this.#hasReserve(kind, ip, budget, nowMs);
    if (isReserved) this.#reserves[counted].take(ownAddress(ip), nowMs);
    for (const key of keysOf(isReserved ? `reserved ${counted}` : counted, ip)) {
      this.#counts.take(key, meterOf(1), nowMs);
    }
  }

  /** Whether the response to a request for a file is a page that the network has no budget for. A page takes from it. */
  withholds(response: Response, facts: RequestFacts, budget: number): boolean {
    const { nowMs, signals } = facts;
    const { ip } = signals;
    if (!isPageResponse(response, facts)) return false;
    // The page of another site would use up the budget of its reader.
    if (isUnreadable(response, facts.headers)) return true;
    const hasRoom = this.hasRoom('page', ip, budget, nowMs);
    this.take('page', ip, budget, nowMs);
    if (!hasRoom) this.#withheld.take(ownAddress(ip), nowMs);
    return !hasRoom;
  }

  #hasReserve(kind: PendingKind, ip: string | null, budget: number, nowMs: number): boolean {
    if (kind === 'frame') return false;
    const own = ownAddress(ip);
    if (!this.#reserves[kind].hasRoom(own, nowMs)) return false;
    if (kind === 'file' && !this.#withheld.hasRoom(own, nowMs)) return false;
    const together = budget * RESERVES_TIMES * (kind === 'file' ? FILES_PER_PAGE : 1);
    return this.#isWithin(`reserved ${kind}`, ip, together, nowMs);
  }

  /** `limit`: of the near network. */
  #isWithin(counted: string, ip: string | null, limit: number, nowMs: number): boolean {
    return keysOf(counted, ip).every(
      (key, index) => this.#counts.waitMs(key, meterOf(limit * (index === 0 ? 1 : FAR_TIMES)), nowMs) === 0,
    );
  }
}

/** What is counted does not depend on the budget. */
function meterOf(count: number): CountedMeter {
  return { count, windowMs: PENDING_WINDOW_MS, isBucket: false, leash: Math.ceil(count / UNCONFIRMED_SHARE) };
}

function keysOf(counted: string, ip: string | null): string[] {
  const { near, around } = neighboursOf(ip);
  // The same where the address is unknown.
  return [...new Set([near, around])].map((prefix) => `${counted} ${prefix}`);
}

/** What a visitor without a session asks for, as their request says, and what it was, as the response shows. */
const PAGE_DESTINATION = /^(?:document|iframe|frame|fencedframe|object|embed)$/;
/** What elements of a page load. Everything else has content that is worth collecting: pages, data, texts. */
const FILE_TYPE =
  /^(?:image|font|audio|video)\/|^text\/(?:css|javascript|vtt)|^application\/(?:(?:x-)?javascript|ecmascript|wasm|manifest\+json|(?:x-)?font-|vnd\.ms-fontobject|octet-stream|(?:x-|vnd\.apple\.)mpegurl|dash\+xml)/i;
const SCRIPT_TYPE = /^(?:text|application)\/(?:x-)?(?:java|ecma)script/i;
/** JSONP: data in the function that the query names. `callback`, `_jsonp`, `jsoncallback`, `json.wrf` and the like. */
const CALLBACK_NAME = /callback|jsonp|json\.wrf/i;
const MANIFEST_NAME = /\/[^/;]*manifest[^/;]*$/i;
const BODILESS = new Set([204, 205]);

type Asked = Pick<HeaderFacts, 'fetchDest' | 'fetchSite' | 'accept'>;
/** `target`: anyone can write that they ask for a manifest, so only an address that is named so may be one. */
type AskedAt = { target: Pick<CanonicalTarget, 'path' | 'query'>; headers: Pick<HeaderFacts, 'fetchDest'> };

/** A browser that asks for a page says so in `Accept`, whatever else it says. Scripts of another site can say it too. */
export function askedFor({ fetchDest, fetchSite, accept }: Asked): PendingKind {
  const isForeign = fetchSite === 'cross-site';
  if (PAGE_DESTINATION.test(fetchDest ?? '')) return isForeign && fetchDest !== 'document' ? 'frame' : 'page';
  return accept?.includes('text/html') === true && !isForeign ? 'page' : 'file';
}

/** What a page of another site loads and cannot read: browsers hand it only scripts, and what the site shares (CORS). */
function isUnreadable({ headers }: Response, { fetchSite, fetchMode }: HeaderFacts): boolean {
  if (fetchSite !== 'cross-site' || SCRIPT_TYPE.test(headers.get('content-type') ?? '')) return false;
  return fetchMode === 'no-cors' || !headers.has('access-control-allow-origin');
}

/** Whether a response counts as a page for a visitor without a session. Redirects, errors and unchanged files hold nothing of the site. */
export function isPageResponse(response: Response, asked: AskedAt): boolean {
  const { status } = response;
  if (status < 200 || status > 299 || BODILESS.has(status)) return false;
  return !isFileResponse(response, asked.target) && !isManifest(response, asked);
}

/** What elements of a page load, also when it has not changed. */
export function isFileResponse({ status, headers }: Response, { query }: AskedAt['target']): boolean {
  const type = headers.get('content-type') ?? '';
  return status === 304 || (FILE_TYPE.test(type) && !(SCRIPT_TYPE.test(type) && namesCallback(query)));
}

function namesCallback(query: string): boolean {
  return query !== '' && [...new URLSearchParams(query).keys()].some((name) => CALLBACK_NAME.test(name));
}

/** Browsers read the manifest without cookies on every visit, often as plain JSON. */
function isManifest({ headers }: Response, { target, headers: { fetchDest } }: AskedAt): boolean {
  if (fetchDest !== 'manifest' || !MANIFEST_NAME.test(target.path)) return false;
  return /^application\/json/i.test(headers.get('content-type') ?? '');
}
