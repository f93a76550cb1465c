/**
 * The service's scheduled run, once a minute: work that was begun by a request and must finish without
 * one. Tasks are independent; one that fails is logged and does not stop the next.
 */
import { purgeExpiredAccessRules } from '../store/d1/access-control-rules.ts';
import { purgeExpiredApiKeys } from '../store/d1/api-keys.ts';
import { purgeManagementAudit } from '../store/d1/management-audit.ts';
import { resumeGroupRemovals } from '../store/d1/rule-group-jobs.ts';
import { preparePowKeys } from './captcha/captcha-engine.ts';
import { replayDeadLetters } from './ingest/dead-letters.ts';
import { eraseDeletedLogs } from './ingest/retire-deleted-instances.ts';
import { dropOldRefused } from './ingest/refused-records.ts';
import type { ServiceStore } from './environment.ts';

export interface ScheduledTask {
  name: string;
  run(store: ServiceStore, nowMs: number): Promise<void>;
}

/** An expired access control rule stays listed for this long, then it goes. */
const EXPIRED_RULE_KEPT_MILLISECONDS = 30 * 24 * 3600 * 1000;
const EXPIRED_RULES_PURGED_PER_RUN = 5000;
/** An expired API key stays listed for this long, then it goes. */
const EXPIRED_KEY_KEPT_MILLISECONDS = 30 * 24 * 3600 * 1000;
const EXPIRED_KEYS_PURGED_PER_RUN = 5000;
/** A year of management writes answers most questions; they name addresses, so no longer. */
const AUDIT_TRAIL_KEPT_MILLISECONDS = 365 * 24 * 3600 * 1000;
const AUDIT_ENTRIES_PURGED_PER_RUN = 5000;

const tasks: readonly ScheduledTask[] = [
  { name: 'pow-keys', run: preparePowKeys },
  {
    name: 'rule-group-removals',
    async run(store, nowMs) {
      await resumeGroupRemovals(store, nowMs, Date.now);
    },
  },
  {
    name: 'expired-access-rules',
    async run(store, nowMs) {
      await purgeExpiredAccessRules(store, nowMs - EXPIRED_RULE_KEPT_MILLISECONDS, EXPIRED_RULES_PURGED_PER_RUN);
    },
  },
  {
    name: 'expired-api-keys',
    run: (store, nowMs) =>
      purgeExpiredApiKeys(store, nowMs - EXPIRED_KEY_KEPT_MILLISECONDS, EXPIRED_KEYS_PURGED_PER_RUN),
  },
  {
    name: 'old-audit-entries',
    run: (store, nowMs) =>
      purgeManagementAudit(store, nowMs - AUDIT_TRAIL_KEPT_MILLISECONDS, AUDIT_ENTRIES_PURGED_PER_RUN),
  },
  { name: 'old-refused-verdicts', run: dropOldRefused },
  { name: 'dead-letters', run: replayDeadLetters },
  { name: 'logs-of-deleted-instances', run: eraseDeletedLogs },
];

/** `nowMs`: when the run was due. */
export async function runScheduled(nowMs: number, store: ServiceStore): Promise<void> {
  for (const task of tasks) {
    try {
      await task.run(store, nowMs);
    } catch (error) {
      console.error(JSON.stringify({ event: 'scheduled-task-failed', task: task.name, message: String(error) }));
    }
  }
}
