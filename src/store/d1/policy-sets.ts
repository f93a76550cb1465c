/**
 * Policies, limits and origins of each instance: one document, every version kept for a while. A version is written only
 * on top of the one that the writer has read, in the same transaction that makes it the current one.
 */
import { statement } from '../sql.ts';
import type { PolicySet } from '../../contract/management/policy-set/policy-set.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';

/** Of an instance, the current one included. */
const VERSIONS_MAX = 100;
/** The older versions go sooner where documents are large. The current one always stays. */
const HISTORY_MAX_BYTES = 16 * 1024 * 1024;

interface PolicySetVersion {
  version: number;
  policies: number;
  limits: number;
  /** Why, in the words of who made it. */
  note: string | null;
  actor: string;
  /** Epoch milliseconds. */
  at: number;
  /** The version that this one is a copy of. */
  restores: number | null;
}

interface NewPolicySet {
  instanceId: string;
  /** In canonical form. */
  document: PolicySet;
  /** The version that the writer has read; 0 when there was none. */
  onVersion: number;
  note: string | null;
  actor: string;
  restores: number | null;
}

const NO_ORIGINS: Partial<PolicySet> = { origins: {} };

/** `null`: the instance never had this version, or it is no longer kept. */
export async function policySetOf(env: StoreEnv, instanceId: string, version: number): Promise<PolicySet | null> {
  if (version === 0) return { policies: [], limits: [], origins: {} };
  const row = await statement(env)`
    SELECT document FROM policy_sets
    WHERE instance_id = ${instanceId} AND version = ${version}`.first<{ document: string }>();
  // Sets that were stored before there were origins have none.
  return row && { ...NO_ORIGINS, ...(JSON.parse(row.document) as PolicySet) };
}

/** The newest first: those below `before`, or from the newest on. */
export async function policySetVersions(
  env: StoreEnv,
  instanceId: string,
  { before, limit }: { before: number | null; limit: number },
): Promise<PolicySetVersion[]> {
  const { results } = await statement(env)`
    SELECT version, policies, limits, note, actor, at, restores FROM policy_sets
    WHERE instance_id = ${instanceId} AND (${before} IS NULL OR version < ${before})
    ORDER BY version DESC LIMIT ${limit}`.all<PolicySetVersion>();
  return results;
}

/** The new version. Fails with the current one where that is not `onVersion`; `null` where the instance is deleted. */
export async function putPolicySet(
  env: StoreEnv,
  { instanceId, document, onVersion, note, actor, restores }: NewPolicySet,
  nowMs: number,
): Promise<Result<number, number | null>> {
  const version = onVersion + 1;
  const text = JSON.stringify(document);
  const bytes = new TextEncoder().encode(text).length;
  const [inserted] = await env.DB.batch([
    statement(env)`
      INSERT INTO policy_sets (instance_id, version, document, bytes, policies, limits, note, actor, at, restores)
      SELECT ${instanceId}, ${version}, ${text}, ${bytes}, ${document.policies.length}, ${document.limits.length},
        ${note}, ${actor}, ${nowMs}, ${restores}
      WHERE EXISTS (SELECT 1 FROM protect_instances WHERE id = ${instanceId} AND active = 1
        AND policy_version = ${onVersion})`,
    statement(env)`
      UPDATE protect_instances SET policy_version = ${version}
      WHERE id = ${instanceId} AND active = 1 AND policy_version = ${onVersion}`,
    statement(env)`
      DELETE FROM policy_sets
      WHERE instance_id = ${instanceId} AND version < ${version}
        AND (version <= ${version} - ${VERSIONS_MAX} OR version IN (
      SELECT version FROM (
        SELECT version, sum(bytes) OVER (ORDER BY version DESC) AS kept FROM policy_sets
          WHERE instance_id = ${instanceId})
      WHERE kept > ${HISTORY_MAX_BYTES}))`,
  ]);
  if (inserted?.meta.changes === 1) return ok(version);
  const row = await statement(env)`
    SELECT policy_version AS version FROM protect_instances
    WHERE id = ${instanceId} AND active = 1`.first<{ version: number }>();
  return failed(row?.version ?? null);
}
