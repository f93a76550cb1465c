/**
 * Audit trail of management writes in D1: one row per successful write, and one for each change that the service makes by
 * itself, with neither key nor person. The request body is stored shortened and
 * without secrets.
 */
import { type Sql, statement } from '../sql.ts';
import type { StoreEnv } from '../binding.ts';
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
  /** Name of the operation, such as `update-site`. */
  operation: plain<string>(),
  requestId: plain<string>(),
  /** Client address, or `null` when it is unknown. */
  ip: plain<string | null>(),
  body: fromJson<unknown>(),
});
type ManagementAuditEntry = ReturnType<typeof auditEntry>;

export async function appendManagementAudit(
  env: StoreEnv,
  accountId: string,
  entry: ManagementAuditEntry,
): Promise<void> {
  await statement(env)`
    INSERT INTO management_audit (id, account_id, at, api_key_id, api_key_name, user_email, operation, request_id, ip,
      body)
    VALUES (${entry.id}, ${accountId}, ${entry.at}, ${entry.apiKeyId}, ${entry.apiKeyName}, ${entry.userEmail},
      ${entry.operation}, ${entry.requestId}, ${entry.ip}, ${JSON.stringify(entry.body)})`.run();
}

/**
 * The statement that notes a change which the service made by itself, for the transaction of that change. `condition`: SQL
 * that must hold.
 */
export function auditByService(
  env: StoreEnv,
  accountId: string,
  entry: Pick<ManagementAuditEntry, 'at' | 'operation' | 'body'>,
  condition: Sql,
): D1PreparedStatement {
  const id = crypto.randomUUID();
  return statement(env)`
    INSERT INTO management_audit (id, account_id, at, operation, request_id, body)
    SELECT ${id}, ${accountId}, ${entry.at}, ${entry.operation}, ${id}, ${JSON.stringify(entry.body)}
    WHERE ${condition}`;
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
