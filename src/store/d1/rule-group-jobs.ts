/**
 * Deletes a rule group as a job. A row records the request, steps of bounded size do the work, and the scheduled run
 * resumes an unfinished job. So a deletion survives a restart, and rules that were added to the group after the request
 * stay.
 */
import { statement } from '../sql.ts';
import { raiseAccessControlVersion } from './access-control-rules.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { fromRow, plain, type Row } from './rows.ts';

const groupJob = fromRow({
  id: plain<string>(),
  accountId: plain<string>(),
  ruleGroupId: plain<string>(),
  /** Epoch milliseconds. */
  requestedAt: plain<number>(),
  finishedAt: plain<number | null>(),
  deletedCount: plain<number>(),
});
type RuleGroupJob = ReturnType<typeof groupJob>;

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
  await statement(env)`
    INSERT INTO rule_group_jobs (id, account_id, rule_group_id, requested_at, touched_at)
    VALUES (${id}, ${accountId}, ${ruleGroupId}, ${nowMs}, ${nowMs})`.run();
  return { id, accountId, ruleGroupId, requestedAt: nowMs, finishedAt: null, deletedCount: 0 };
}

export async function ruleGroupJob(env: StoreEnv, accountId: string, id: string): Promise<RuleGroupJob | null> {
  const row = await statement(env)`
    SELECT * FROM rule_group_jobs WHERE id = ${id} AND account_id = ${accountId}`.first<Row>();
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
      statement(env)`
        DELETE FROM access_control_rules WHERE account_id = ${pending.accountId} AND user_scope_hash IN (
        SELECT user_scope_hash FROM access_control_rules
        WHERE account_id = ${pending.accountId} AND rule_group_id = ${pending.ruleGroupId}
          AND updated_at <= ${pending.requestedAt} LIMIT ${STEP_RULES})`,
      statement(env)`
        UPDATE rule_group_jobs SET deleted_count = deleted_count + changes(), touched_at = ${nowMs},
          finished_at = CASE WHEN changes() < ${STEP_RULES} THEN COALESCE(finished_at, ${nowMs}) ELSE finished_at END
        WHERE id = ${pending.id}`,
      raiseAccessControlVersion(env, pending.accountId),
    ]);
    if ((removed?.meta.changes ?? 0) < STEP_RULES) return;
  }
}

/** Resumes jobs whose worker is gone; returns how many. */
export async function resumeGroupRemovals(env: StoreEnv, nowMs: number, clock: () => number): Promise<number> {
  const { results } = await statement(env)`
    SELECT * FROM rule_group_jobs
    WHERE finished_at IS NULL AND touched_at <= ${nowMs - ABANDONED_MS}
    ORDER BY touched_at LIMIT ${RESUMED_PER_RUN_MAX}`.all<Row>();
  for (const row of results) await runGroupRemoval(env, groupJob(row), clock);
  return results.length;
}
