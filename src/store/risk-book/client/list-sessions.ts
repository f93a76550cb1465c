/**
 * A page of an instance's sessions, merged over its books. A book that stopped early may have more sessions below its
 * last one, so the page ends there too.
 */
import type { SessionPage, SessionPlace, SessionQuery } from '../rpc.ts';
import { sessionBooks } from './session-books.ts';

type RiskBookEnv = Pick<ServiceEnv, 'RISK_BOOK' | 'JURISDICTION'>;

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
