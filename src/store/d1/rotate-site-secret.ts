/**
 * Rotates a site's secret. The former secret works until `formerUntil`, so that backends and edges can switch one by
 * one. At most two secrets work at once: another rotation ends the former one. Tokens that visitors hold do not depend
 * on it.
 */
import type { StoreEnv } from '../binding.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { sealAtRest } from '../keys/master-key.ts';
import { rootKey } from '../keys/root-key.ts';
import { newSiteSecret, secretContext } from './sites.ts';

/** Returns the new secret, or `null` when the account has no such active site. */
export async function rotateSiteSecret(
  env: StoreEnv,
  site: { accountId: string; siteKey: string },
  formerUntil: number,
  nowMs: number,
): Promise<string | null> {
  const secretKey = newSiteSecret();
  const sealed = await sealAtRest(await rootKey(env), secretContext(site.siteKey), secretKey);
  // In one statement, so that the hash it keeps as the former one is the hash that was valid until now.
  const { meta } = await env.DB.prepare(
    `UPDATE sites SET former_secret_hash = secret_hash, former_secret_until = ?1, secret_hash = ?2, secret_sealed = ?3,
       version = version + 1, updated_at = ?4
     WHERE site_key = ?5 AND account_id = ?6 AND active = 1`,
  )
    .bind(formerUntil, await sha256Hex(secretKey), sealed, nowMs, site.siteKey, site.accountId)
    .run();
  return meta.changes === 1 ? secretKey : null;
}
