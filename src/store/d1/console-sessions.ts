/**
 * Sessions of the console in D1: one row per signed-in browser. The row has the hash of the cookie's secret, so a copy of
 * the database signs nobody in. Every call reads the row together with the user and the account, so that a revoked
 * session, a removed user or another role counts from the next call on.
 */
import { statement } from '../sql.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import type { UserRole } from '../../contract/management/permissions.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { accountRecord, type AccountRecord } from './accounts.ts';
import { fromRow, plain, type Row } from './rows.ts';

export type SignInMethod = 'link' | 'passkey' | 'oidc' | 'access';

const sessionRecord = fromRow({
  /** Names the session in a list. It is not the secret of the cookie. */
  id: plain<string>(),
  accountId: plain<string>(),
  email: plain<string>(),
  method: plain<SignInMethod>(),
  signedInAt: plain<number>(),
  lastSeenAt: plain<number>(),
  endsAt: plain<number>(),
  /** Of the sign-in. */
  address: plain<string | null>(),
  userAgent: plain<string>(),
});
export type ConsoleSession = ReturnType<typeof sessionRecord>;

export interface SignedInUser {
  session: ConsoleSession;
  name: string;
  role: UserRole;
  account: AccountRecord;
}

/** A browser left open overnight is signed out. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
/** However busy, a session ends after a week. */
const SESSION_MAX_MS = 7 * 86_400_000;
/** `last_seen_at` is written once a minute at most: reading a page makes many calls. */
const SEEN_STEP_MS = 60_000;
/** Sessions of one person. The next sign-in ends the oldest. */
const SESSIONS_PER_PERSON_MAX = 50;
const SECRET_BYTES = 32;
const ID_BYTES = 12;
const USER_AGENT_MAX_CHARS = 512;

/**
 * Opens a session and sets the status of an invited user to `active`. `replaces` is the secret of the session that the
 * browser had before: it ends, so that no value that was planted in a browser ever becomes a session. For somebody who
 * was removed meanwhile nothing is written: it would come alive with a new invitation.
 * @returns the secret for the cookie.
 */
export async function openConsoleSession(
  env: StoreEnv,
  session: Pick<ConsoleSession, 'accountId' | 'email' | 'method' | 'address' | 'userAgent'> &
    Partial<Pick<ConsoleSession, 'signedInAt' | 'endsAt'>>,
  replaces: string | null,
  nowMs: number,
): Promise<string> {
  const secret = randomToken(SECRET_BYTES);
  const id = `ses_${randomToken(ID_BYTES)}`;
  const userAgent = session.userAgent.slice(0, USER_AGENT_MAX_CHARS);
  const replacedHash = replaces === null ? '' : await sha256Hex(replaces);
  await env.DB.batch([
    statement(env)`
      DELETE FROM console_sessions WHERE secret_hash = ${replacedHash}`,
    statement(env)`
      INSERT INTO console_sessions
        (secret_hash, id, account_id, email, method, signed_in_at, last_seen_at, ends_at, address, user_agent)
      SELECT ${await sha256Hex(secret)}, ${id}, ${session.accountId}, ${session.email},
        ${session.method}, ${session.signedInAt ?? nowMs}, ${nowMs}, ${session.endsAt ?? nowMs + SESSION_MAX_MS},
        ${session.address}, ${userAgent}
      WHERE EXISTS (SELECT 1 FROM users WHERE account_id = ${session.accountId} AND email = ${session.email})`,
    statement(env)`
      DELETE FROM console_sessions WHERE email = ${session.email} AND secret_hash NOT IN
      (SELECT secret_hash FROM console_sessions WHERE email = ${session.email} ORDER BY last_seen_at DESC
        LIMIT ${SESSIONS_PER_PERSON_MAX})`,
    statement(env)`
      UPDATE users SET status = 'active', updated_at = ${nowMs}
      WHERE account_id = ${session.accountId} AND email = ${session.email} AND status = 'invited'`,
  ]);
  return secret;
}

/** The session of a cookie with its user and account; `null` when any of them is gone or the session is over. */
export async function signedInUser(env: StoreEnv, secret: string, nowMs: number): Promise<SignedInUser | null> {
  const row = await statement(env)`
    SELECT accounts.*, console_sessions.id AS session_id, console_sessions.email, console_sessions.method,
      console_sessions.signed_in_at, console_sessions.last_seen_at, console_sessions.ends_at,
      console_sessions.address, console_sessions.user_agent, users.name, users.role
    FROM console_sessions
      JOIN users ON users.account_id = console_sessions.account_id AND users.email = console_sessions.email
      JOIN accounts ON accounts.id = console_sessions.account_id
    WHERE console_sessions.secret_hash = ${await sha256Hex(secret)} AND console_sessions.ends_at > ${nowMs}
      AND console_sessions.last_seen_at > ${nowMs - SESSION_IDLE_MS}`.first<
    Row & { id: string; session_id: string; name: string; role: UserRole }
  >();
  if (row === null) return null;
  return {
    session: sessionRecord({ ...row, account_id: row.id, id: row.session_id }),
    name: row.name,
    role: row.role,
    account: accountRecord(row),
  };
}

/** Whether `markSeen` has something to write. */
export function isSeenLongAgo(session: ConsoleSession, nowMs: number): boolean {
  return nowMs - session.lastSeenAt >= SEEN_STEP_MS;
}

export async function markSeen(env: StoreEnv, session: ConsoleSession, nowMs: number): Promise<void> {
  await statement(env)`
    UPDATE console_sessions SET last_seen_at = MAX(last_seen_at, ${nowMs})
    WHERE email = ${session.email} AND id = ${session.id}`.run();
}

/** Sessions of a person in all accounts that have not ended, the one seen last first. */
export async function sessionsOfPerson(env: StoreEnv, email: string, nowMs: number): Promise<ConsoleSession[]> {
  const { results } = await statement(env)`
    SELECT * FROM console_sessions
    WHERE email = ${email} AND ends_at > ${nowMs} AND last_seen_at > ${nowMs - SESSION_IDLE_MS}
    ORDER BY last_seen_at DESC, id LIMIT ${SESSIONS_PER_PERSON_MAX}`.all<Row>();
  return results.map(sessionRecord);
}

/** Returns whether the person had this session. */
export async function endConsoleSession(env: StoreEnv, email: string, id: string): Promise<boolean> {
  const { meta } = await statement(env)`DELETE FROM console_sessions WHERE email = ${email} AND id = ${id}`.run();
  return meta.changes === 1;
}

/** Returns how many there were. */
export async function endAllSessions(env: StoreEnv, email: string): Promise<number> {
  const { meta } = await statement(env)`DELETE FROM console_sessions WHERE email = ${email}`.run();
  return meta.changes;
}
