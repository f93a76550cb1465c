/**
 * Which object keeps what: the sessions of an instance in sixteen, chosen by the network a session was opened
 * from, so that one object sees a network open session after session; the lists for the edges in one. A
 * session's id begins with the digit of its object and is found again by nothing else.
 */
import type { RiskBook } from './object/risk-book.ts';
import { textHash } from '../text-hash.ts';
import { randomToken } from '../keys/master-key.ts';

const BOOKS = 16;
/** 128 random bits behind the digit. */
const JTI_BYTES = 16;

/** What the callers use of the object: plain data in and out. */
export type RiskBookStub = Pick<
  RiskBook,
  | 'open'
  | 'renew'
  | 'report'
  | 'crowd'
  | 'lineage'
  | 'read'
  | 'hasEnded'
  | 'end'
  | 'raise'
  | 'withdraw'
  | 'listVersion'
  | 'lists'
  | 'retire'
>;

/** A session id that leads to the book of this network. */
export function newSessionJti(network: string): string {
  return (textHash(network) % BOOKS).toString(16) + randomToken(JTI_BYTES);
}

/** The book of a session; any text leads to one. */
export function sessionBook(env: ServiceEnv, instanceId: string, jti: string): RiskBookStub {
  const digit = /^[0-9a-f]/.exec(jti)?.[0];
  const book = digit === undefined ? textHash(jti) % BOOKS : Number.parseInt(digit, 16);
  return named(env, `${instanceId}/${book}`);
}

export function listBook(env: ServiceEnv, instanceId: string): RiskBookStub {
  return named(env, `${instanceId}/lists`);
}

/** Every book of an instance. */
export function allBooks(env: ServiceEnv, instanceId: string): RiskBookStub[] {
  const sessions = Array.from({ length: BOOKS }, (_, book) => named(env, `${instanceId}/${book}`));
  return [...sessions, listBook(env, instanceId)];
}

function named(env: ServiceEnv, name: string): RiskBookStub {
  const { RISK_BOOK: namespace, JURISDICTION: jurisdiction } = env;
  const pinned = jurisdiction === 'eu' || jurisdiction === 'us' ? namespace.jurisdiction(jurisdiction) : namespace;
  // The platform's stub type maps every nested member to a promise; these methods return plain data.
  return pinned.get(pinned.idFromName(name)) as unknown as RiskBookStub;
}
