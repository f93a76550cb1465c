/**
 * Deletes a rule group as a job. A row records the request, steps of bounded size do the work, and the scheduled run
 * resumes an unfinished job. So a deletion survives a restart, and rules that were added to the group after the request
 * stay.
 */
import { raiseAccessControlVersion } from './access-control-rules.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { fromRow, type Row } from './rows.ts';

interface RuleGroupJob {
  id: string;
  accountId: string;
  ruleGroupId: string;
  /** Epoch milliseconds. */
  requestedAt: number;
  finishedAt: number | null;
  deletedCount: number;
}

const groupJob = fromRow<RuleGroupJob>({
  id: 'plain',
  accountId: 'plain',
  ruleGroupId: 'plain',
  requestedAt: 'plain',
  finishedAt: 'plain',
  deletedCount: 'plain',
});

/** Rules per transaction: few enough that other writes do not wait noticeably. */
const STEP_RULES = 1000;
/**
 * Pause before each step. D1 has one writer; without pauses the account's other writes would wait for the whole group.
 */
const STEP_PAUSE_MS = 20;
/** A job that made no progress for this long has lost its worker. */
const ABANDONED_MS = 15_000;
/** How many jobs one scheduled run resumes. */
const RESUMED_PER_RUN_MAX = 20;
const JOB_ID_BYTES = 12;

export async function requestGroupRemoval(
  env: StoreEnv,
  accountId: string,
  ruleGroupId: string,
  nowMs: number,
): Promise<RuleGroupJob> {
  const id = `job_${randomToken(JOB_ID_BYTES)}`;
  await env.DB.prepare(
    `INSERT INTO rule_group_jobs (id, account_id, rule_group_id, requested_at, touched_at)
     VALUES (?1, ?2, ?3, ?4, ?4)`,
  )
    .bind(id, accountId, ruleGroupId, nowMs)
    .run();
  return { id, accountId, ruleGroupId, requestedAt: nowMs, finishedAt: null, deletedCount: 0 };
}

export async function ruleGroupJob(env: StoreEnv, accountId: string, id: string): Promise<RuleGroupJob | null> {
  const row = await env.DB.prepare('SELECT * FROM rule_group_jobs WHERE id = ? AND account_id = ?')
    .bind(id, accountId)
    .first<Row>();
  return row ? groupJob(row) : null;
}

/** Runs a job to its end. Two workers on one job share the work. */
export async function runGroupRemoval(env: StoreEnv, pending: RuleGroupJob, clock: () => number): Promise<void> {
  for (;;) {
    await new Promise((resolve) => {
      setTimeout(resolve, STEP_PAUSE_MS);
    });
    const nowMs = clock();
    const [removed] = await env.DB.batch([
      env.DB.prepare(
        `DELETE FROM access_control_rules WHERE account_id = ?1 AND user_scope_hash IN (
           SELECT user_scope_hash FROM access_control_rules
           WHERE account_id = ?1 AND rule_group_id = ?2 AND updated_at <= ?3 LIMIT ?4)`,
      ).bind(pending.accountId, pending.ruleGroupId, pending.requestedAt, STEP_RULES),
      env.DB.prepare(
        `UPDATE rule_group_jobs SET deleted_count = deleted_count + changes(), touched_at = ?2,
           finished_at = CASE WHEN changes() < ?3 THEN COALESCE(finished_at, ?2) ELSE finished_at END
         WHERE id = ?1`,
      ).bind(pending.id, nowMs, STEP_RULES),
      raiseAccessControlVersion(env, pending.accountId),
    ]);
    if ((removed?.meta.changes ?? 0) < STEP_RULES) return;
  }
}

/** Resumes jobs whose worker is gone; returns how many. */
export async function resumeGroupRemovals(env: StoreEnv, nowMs: number, clock: () => number): Promise<number> {
  const { results } = await env.DB.prepare(
    'SELECT * FROM rule_group_jobs WHERE finished_at IS NULL AND touched_at <= ? ORDER BY touched_at LIMIT ?',
  )
    .bind(nowMs - ABANDONED_MS, RESUMED_PER_RUN_MAX)
    .all<Row>();
  for (const row of results) await runGroupRemoval(env, groupJob(row), clock);
  return results.length;
}
