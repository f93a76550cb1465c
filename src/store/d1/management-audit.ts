/**
 * Audit trail of management writes in D1: one row per successful write, and one for each change that the service makes by
 * itself, with neither key nor person. The request body is stored shortened and
 * without secrets.
 */
import type { StoreEnv } from '../binding.ts';
import { fromRow, type Row } from './rows.ts';

interface ManagementAuditEntry {
  id: string;
  /** Epoch milliseconds. */
  at: number;
  /** Of the key that made the call; `null` for a person. */
  apiKeyId: string | null;
  apiKeyName: string | null;
  /** Of the person who was signed in to the console; `null` for a key. */
  userEmail: string | null;
  /** Name of the operation, such as `update-site`. */
  operation: string;
  requestId: string;
  /** Client address, or `null` when it is unknown. */
  ip: string | null;
  body: unknown;
}

const auditEntry = fromRow<ManagementAuditEntry>({
  id: 'plain',
  at: 'plain',
  apiKeyId: 'plain',
  apiKeyName: 'plain',
  userEmail: 'plain',
  operation: 'plain',
  requestId: 'plain',
  ip: 'plain',
  body: 'json',
});

export async function appendManagementAudit(
  env: StoreEnv,
  accountId: string,
  entry: ManagementAuditEntry,
): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO management_audit (id, account_id, at, api_key_id, api_key_name, user_email, operation, request_id, ip, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
    .bind(
      entry.id,
      accountId,
      entry.at,
      entry.apiKeyId,
      entry.apiKeyName,
      entry.userEmail,
      entry.operation,
      entry.requestId,
      entry.ip,
      JSON.stringify(entry.body),
    )
    .run();
}

/**
 * The statement that notes a change which the service made by itself, for the transaction of that change. `condition`: SQL
 * that must hold, with its own values.
 */
export function auditByService(
  env: StoreEnv,
  accountId: string,
  entry: Pick<ManagementAuditEntry, 'at' | 'operation' | 'body'>,
  condition: { sql: string; values: readonly (string | number | null)[] },
): D1PreparedStatement {
  const id = crypto.randomUUID();
  return env.DB.prepare(
    `INSERT INTO management_audit (id, account_id, at, operation, request_id, body)
     SELECT ?, ?, ?, ?, ?, ? WHERE ${condition.sql}`,
  ).bind(id, accountId, entry.at, entry.operation, id, JSON.stringify(entry.body), ...condition.values);
}

/** Newest first; `before` is the last entry of the page before. */
export async function managementAuditPage(
  env: StoreEnv,
  accountId: string,
  limit: number,
  before: { at: number; id: string } | null,
): Promise<ManagementAuditEntry[]> {
  const { results } = await env.DB.prepare(
    `SELECT * FROM management_audit WHERE account_id = ?1 AND (?2 IS NULL OR (at, id) < (?2, ?3))
     ORDER BY at DESC, id DESC LIMIT ?4`,
  )
    .bind(accountId, before?.at ?? null, before?.id ?? null, limit)
    .all<Row>();
  return results.map(auditEntry);
}

/** Deletes entries older than `before`, at most `limit` of them. */
export async function purgeManagementAudit(env: StoreEnv, before: number, limit: number): Promise<void> {
  await env.DB.prepare(
    'DELETE FROM management_audit WHERE id IN (SELECT id FROM management_audit WHERE at < ? LIMIT ?)',
  )
    .bind(before, limit)
    .run();
}
