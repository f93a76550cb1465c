/**
 * Audit trail of management writes in D1: one row per successful write, and one for each change that the service makes by
 * itself, with neither key nor person. The request body is stored shortened and
 * without secrets.
 */
import { type Sql, statement } from '../sql.ts';
import type { StoreEnv } from '../binding.ts';
import type { AuditChanges } from '../../contract/management/audit-changes.ts';
import { fromJson, fromRow, plain, type Row } from './rows.ts';

const auditEntry = fromRow({
  id: plain<string>(),
  /** Epoch milliseconds. */
  at: plain<number>(),
  /** Of the key that made the call; `null` for a person. */
  apiKeyId: plain<string | null>(),
  apiKeyName: plain<string | null>(),
  /** Of the person who was signed in to the console; `null` for a key. */
  userEmail: plain<string | null>(),
  /** As they were called then. */
  userName: plain<string | null>(),
  /** Name of the operation, such as `update-site`. */
  operation: plain<string>(),
  requestId: plain<string>(),
  /** Client address, or `null` when it is unknown. */
  ip: plain<string | null>(),
  body: fromJson<unknown>(),
  /** `null`: not noted. */
  changes: fromJson<AuditChanges | null>(),
});
type ManagementAuditEntry = ReturnType<typeof auditEntry>;

export async function appendManagementAudit(
  env: StoreEnv,
  accountId: string,
  entry: ManagementAuditEntry,
): Promise<void> {
  await statement(env)`
    INSERT INTO management_audit (id, account_id, at, api_key_id, api_key_name, user_email, user_name, operation,
      request_id, ip, body, changes)
    VALUES (${entry.id}, ${accountId}, ${entry.at}, ${entry.apiKeyId}, ${entry.apiKeyName}, ${entry.userEmail},
      ${entry.userName}, ${entry.operation}, ${entry.requestId}, ${entry.ip}, ${JSON.stringify(entry.body)},
      ${entry.changes && JSON.stringify(entry.changes)})`.run();
}

/**
 * The statement that notes a change which the service made by itself, for the transaction of that change. `condition`: SQL
 * that must hold.
 */
export function auditByService(
  env: StoreEnv,
  accountId: string,
  entry: Pick<ManagementAuditEntry, 'at' | 'operation' | 'body' | 'changes'>,
  condition: Sql,
): D1PreparedStatement {
  const id = crypto.randomUUID();
  return statement(env)`
    INSERT INTO management_audit (id, account_id, at, operation, request_id, body, changes)
    SELECT ${id}, ${accountId}, ${entry.at}, ${entry.operation}, ${id}, ${JSON.stringify(entry.body)},
      ${entry.changes && JSON.stringify(entry.changes)}
    WHERE ${condition}`;
}

/**
 * What keys and people are called, by the id of the key or the address: as now, or as at their last change if they are gone.
 */
export async function namesOfActors(
  env: StoreEnv,
  accountId: string,
  actors: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = JSON.stringify([...new Set(actors)]);
  // The rows of a key that was deleted are gone, but each of its writes left an entry here.
  const { results } = await statement(env)`
    SELECT value AS actor, COALESCE(
      (SELECT name FROM api_keys WHERE id = value AND account_id = ${accountId}),
      (SELECT name FROM users WHERE email = value AND account_id = ${accountId}),
      (SELECT COALESCE(api_key_name, user_name) FROM management_audit
        WHERE account_id = ${accountId} AND COALESCE(api_key_id, user_email) = value ORDER BY at DESC LIMIT 1),
      value) AS name
    FROM json_each(${wanted})`.all<{ actor: string; name: string }>();
  return new Map(results.map(({ actor, name }) => [actor, name]));
}

/** Newest first; `before` is the last entry of the page before. */
export async function managementAuditPage(
  env: StoreEnv,
  accountId: string,
  limit: number,
  before: { at: number; id: string } | null,
): Promise<ManagementAuditEntry[]> {
  const { results } = await statement(env)`
    SELECT * FROM management_audit WHERE account_id = ${accountId} AND (${before?.at ?? null} IS NULL OR (at,
      id) < (${before?.at ?? null}, ${before?.id ?? null}))
    ORDER BY at DESC, id DESC LIMIT ${limit}`.all<Row>();
  return results.map(auditEntry);
}

/** Deletes entries older than `before`, at most `limit` of them. */
export async function purgeManagementAudit(env: StoreEnv, before: number, limit: number): Promise<void> {
  await statement(env)`
    DELETE FROM management_audit WHERE id IN (SELECT id FROM management_audit WHERE at < ${before}
      LIMIT ${limit})`.run();
}
