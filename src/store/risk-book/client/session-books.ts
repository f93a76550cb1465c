/**
 * Which object holds what. Sixteen objects hold the sessions of an instance, chosen by the /16 or /48 that opened the
 * session, so that one object sees a network that opens session after session, from whichever of its parts. One more object holds the lists for the
 * edges. The first digit of a session id names its object.
 */
import { neighboursOf } from '../../../address/networks.ts';
import { inJurisdiction } from '../../jurisdiction.ts';
import type { RiskBookRpc, SessionPage, SessionPlace, SessionQuery } from '../rpc.ts';
import { textHash } from '../../text-hash.ts';
import { newSessionId, sessionIdOfLoad } from '../session-id.ts';

type RiskBookEnv = Pick<ServiceEnv, 'RISK_BOOK' | 'JURISDICTION'>;

const BOOKS = 16;

/** A session id that leads to the book of this address and its neighbours. The same page load gives the same id. */
export function newJtiFor(ip: string | null, nowMs: number, load: string | null = null): string {
  return load === null ? newSessionId(bookOf(ip), nowMs) : sessionIdOfLoad(bookOf(ip), load);
}

function bookOf(ip: string | null): number {
  return textHash(neighboursOf(ip).around) % BOOKS;
}

/** The books that hold sessions; with an address, the one with the sessions that its network opened. */
function sessionBooks(env: RiskBookEnv, instanceId: string, ip: string | null): RiskBookRpc[] {
  const books = ip === null ? Array.from({ length: BOOKS }, (_, book) => book) : [bookOf(ip)];
  return books.map((book) => named(env, `${instanceId}/${book}`));
}

/** The book of a session. Any text leads to some book. */
export function sessionBook(env: RiskBookEnv, instanceId: string, jti: string): RiskBookRpc {
  const digit = /^[0-9a-f]/.exec(jti)?.[0];
  const book = digit === undefined ? textHash(jti) % BOOKS : Number.parseInt(digit, 16);
  return named(env, `${instanceId}/${book}`);
}

export function listBook(env: RiskBookEnv, instanceId: string): RiskBookRpc {
  return named(env, `${instanceId}/lists`);
}

/** Every book of an instance. */
export function allBooks(env: RiskBookEnv, instanceId: string): RiskBookRpc[] {
  return [...sessionBooks(env, instanceId, null), listBook(env, instanceId)];
}

function named(env: RiskBookEnv, name: string): RiskBookRpc {
  const namespace = inJurisdiction(env.RISK_BOOK, env.JURISDICTION);
  // The platform's stub type maps every nested field to a promise; these methods return plain data.
  return namespace.get(namespace.idFromName(name)) as unknown as RiskBookRpc;
}

/**
 * A page of an instance's sessions, merged over its books. A book that stopped early may have more sessions below its
 * last one, so the page ends there too.
 */
export async function listSessions(
  env: RiskBookEnv,
  instanceId: string,
  query: SessionQuery,
  nowMs: number,
): Promise<SessionPage> {
  const pages = await Promise.all(sessionBooks(env, instanceId, query.ip).map((book) => book.list(query, nowMs)));
  const ends = pages.map(({ next }) => next).filter((next) => next !== null);
  const end = ends.sort(newestFirst)[0] ?? null;
  const sessions = pages
    .flatMap((page) => page.sessions)
    .filter((session) => end === null || newestFirst(session, end) <= 0)
    .sort(newestFirst);
  const last = sessions[query.limit - 1];
  if (sessions.length <= query.limit || !last) return { sessions, next: end };
  return { sessions: sessions.slice(0, query.limit), next: { at: last.at, jti: last.jti } };
}

/** Negative when `a` comes before `b`. */
function newestFirst(a: SessionPlace, b: SessionPlace): number {
  if (a.at !== b.at) return b.at - a.at;
  if (a.jti === b.jti) return 0;
  return a.jti < b.jti ? 1 : -1;
}
