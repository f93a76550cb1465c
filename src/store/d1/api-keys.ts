/**
 * API keys in D1, and their bearer tokens. A token is an HS256 JWT over the account id and the key id only, so minting
 * it again gives the same token: listings return it, and no row stores it. Permissions and expiry are read from the row
 * on every request.
 */
import { statement } from '../sql.ts';
import { CompactSign, compactVerify, errors } from 'jose';
import type { PermissionMap } from '../../contract/management/permissions.ts';
import { AccountLimitError, accountLimits } from './account-limits.ts';
import { accountOf, type AccountRecord, selectAccount } from './accounts.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { deriveKey, randomToken } from '../keys/master-key.ts';
import { fromJson, fromRow, plain, type Row } from './rows.ts';

const DAY_MS = 86_400_000;

const apiKeyRecord = fromRow({
  id: plain<string>(),
  accountId: plain<string>(),
  name: plain<string>(),
  permissions: fromJson<PermissionMap>(),
  /** Epoch milliseconds; every key expires. */
  expiresAt: plain<number>(),
  createdAt: plain<number>(),
});
export type ApiKeyRecord = ReturnType<typeof apiKeyRecord>;

const TOKEN_KEY_LABEL = 'api-key-token';
const API_KEY_ID_BYTES = 12;
/** A valid token has about 160 characters. Longer texts are refused before the signature check. */
const TOKEN_MAX_CHARS = 1024;

export async function createApiKey(
  env: StoreEnv,
  key: { accountId: string; name: string; permissions: PermissionMap; expiresInSeconds: number },
  nowMs: number,
): Promise<ApiKeyRecord> {
  const record: ApiKeyRecord = {
    id: `key_${randomToken(API_KEY_ID_BYTES)}`,
    accountId: key.accountId,
    name: key.name,
    permissions: key.permissions,
    expiresAt: nowMs + key.expiresInSeconds * 1000,
    createdAt: nowMs,
  };
  const result = await statement(env)`
    INSERT INTO api_keys (id, account_id, name, permissions, expires_at, created_at)
    SELECT ${record.id}, ${record.accountId}, ${record.name}, ${JSON.stringify(record.permissions)},
      ${record.expiresAt}, ${record.createdAt} WHERE (SELECT COUNT(*) FROM api_keys
      WHERE account_id = ${record.accountId}) < ${accountLimits['API keys']}`.run();
  if (result.meta.changes === 0) throw new AccountLimitError('API keys');
  return record;
}

/** A key and its account, read in one round trip. Either can be missing. */
export async function principalOf(
  env: StoreEnv,
  accountId: string,
  keyId: string,
): Promise<{ apiKey: ApiKeyRecord | null; account: AccountRecord | null }> {
  const [keys, accounts] = await env.DB.batch([
    statement(env)`SELECT * FROM api_keys WHERE id = ${keyId} AND account_id = ${accountId}`,
    selectAccount(env, accountId),
  ]);
  const key = keys?.results[0] as Row | undefined;
  return {
    apiKey: key ? apiKeyRecord(key) : null,
    account: accounts ? accountOf(accounts) : null,
  };
}

export async function apiKeysOfAccount(env: StoreEnv, accountId: string): Promise<ApiKeyRecord[]> {
  const { results } = await statement(env)`
    SELECT * FROM api_keys WHERE account_id = ${accountId} ORDER BY created_at, id`.all<Row>();
  return results.map(apiKeyRecord);
}

/**
 * Keys of accounts that are not disabled whose end is to be announced now: `daysAhead`, or a day ahead. Of each account
 * the one that expires first, then its second, and so on, so that no account takes all of the `limit`.
 */
export async function apiKeysToAnnounce(
  env: StoreEnv,
  nowMs: number,
  { daysAhead, limit }: { daysAhead: number; limit: number },
): Promise<ApiKeyRecord[]> {
  const { results } = await statement(env)`
    SELECT * FROM (
      SELECT api_keys.*, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY expires_at) AS turn
      FROM api_keys JOIN accounts ON accounts.id = account_id
      LEFT JOIN (
        SELECT subject, MAX(at) AS at FROM alerts
        WHERE at > ${nowMs} - ${daysAhead * DAY_MS} AND kind = 'api-key-expiring' GROUP BY subject
      ) AS told ON told.subject = api_keys.id
      WHERE expires_at > ${nowMs} AND expires_at <= ${nowMs} + ${daysAhead * DAY_MS} AND disabled = 0
        AND expires_at - api_keys.created_at >= 2 * IIF(expires_at <= ${nowMs} + ${DAY_MS}, ${DAY_MS},
          ${daysAhead * DAY_MS})
        AND (told.at IS NULL OR (expires_at <= ${nowMs} + ${DAY_MS} AND told.at < expires_at - ${DAY_MS})))
    ORDER BY turn, expires_at LIMIT ${limit}`.all<Row>();
  return results.map(apiKeyRecord);
}

/** Returns the name of the key; `null`: the account has no such key. */
export async function deleteApiKey(env: StoreEnv, accountId: string, id: string): Promise<string | null> {
  return statement(env)`
    DELETE FROM api_keys WHERE id = ${id} AND account_id = ${accountId} RETURNING name`.first<string>('name');
}

/** Deletes keys that expired before `before`, at most `limit` of them. */
export async function purgeExpiredApiKeys(env: StoreEnv, before: number, limit: number): Promise<void> {
  await statement(env)`
    DELETE FROM api_keys WHERE id IN (SELECT id FROM api_keys WHERE expires_at < ${before} LIMIT ${limit})`.run();
}

/** The bearer token of a key; always the same one for the same key. */
export async function apiKeyToken(masterKey: string, key: { accountId: string; id: string }): Promise<string> {
  const payload = JSON.stringify({ accountId: key.accountId, keyId: key.id });
  return new CompactSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(await deriveKey(masterKey, TOKEN_KEY_LABEL));
}

/** Reads a bearer token and checks its signature. The key's row may still be missing or expired. */
export async function readApiKeyToken(
  masterKey: string,
  token: string,
): Promise<Result<{ accountId: string; keyId: string }, 'malformed' | 'bad-signature'>> {
  if (token.length > TOKEN_MAX_CHARS) return failed('malformed');
  try {
    const { payload } = await compactVerify(token, await deriveKey(masterKey, TOKEN_KEY_LABEL), {
      algorithms: ['HS256'],
    });
    const claims = JSON.parse(new TextDecoder().decode(payload)) as { accountId?: unknown; keyId?: unknown };
    if (typeof claims.accountId !== 'string' || typeof claims.keyId !== 'string') return failed('malformed');
    return ok({ accountId: claims.accountId, keyId: claims.keyId });
  } catch (error) {
    return failed(error instanceof errors.JWSSignatureVerificationFailed ? 'bad-signature' : 'malformed');
  }
}
