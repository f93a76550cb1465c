/**
 * The scheduled run of the service, once a minute: work that a request began and that must finish without one. Tasks are
 * independent: a failed task is logged and does not stop the next one.
 */
import { purgeExpiredAccessControlRules } from '../store/d1/access-control-rules.ts';
import { purgeExpiredApiKeys } from '../store/d1/api-keys.ts';
import { purgeDirectories } from '../store/d1/bot-directories.ts';
import { purgeManagementAudit } from '../store/d1/management-audit.ts';
import { purgeSignIn } from '../store/d1/sign-in-links.ts';
import { resumeGroupRemovals } from '../store/d1/rule-group-jobs.ts';
import { purgeAlerts } from '../store/d1/alerts.ts';
import { purgeStates } from '../store/d1/alert-states.ts';
import { keyDay } from '../captcha/seal/keyring.ts';
import { preparePowKeys } from '../store/keys/pow-keys.ts';
import { watchApiKeys } from './alerts/watch-api-keys.ts';
import { watchInstances } from './alerts/watch-instances.ts';
import { deliverDue, postingOver } from './alerts/deliver-alerts.ts';
import { endAttackModes } from './attack/end-attack-modes.ts';
import { buildBotTables } from './bots/build-bot-table.ts';
import { refreshRanges } from './bots/refresh-ranges.ts';
import { replayDeadLetters } from './ingest/dead-letters.ts';
import { refreshDueLists } from './lists/refresh-list.ts';
import { retireDeletedInstances } from './ingest/retire-deleted-instances.ts';
import { dropOldRefused } from './ingest/refused-records.ts';
import type { ServiceEnvironment, ServiceStore } from './environment.ts';

/** What a task may use of the environment. */
type ScheduledEnvironment = Pick<ServiceEnvironment, 'store' | 'outbound'>;

interface ScheduledTask {
  name: string;
  run(store: ServiceStore, nowMs: number, outbound: ServiceEnvironment['outbound']): Promise<void>;
}

/** An expired access control rule stays in the list for this long, and is then deleted. */
const EXPIRED_RULE_KEPT_MS = 30 * 24 * 3600 * 1000;
const EXPIRED_RULES_PURGED_PER_RUN = 5000;
/** An expired API key stays in the list for this long, and is then deleted. */
const EXPIRED_KEY_KEPT_MS = 30 * 24 * 3600 * 1000;
const EXPIRED_KEYS_PURGED_PER_RUN = 5000;
/** A year is enough for most questions. Entries have addresses of people, so they are not kept longer. */
const AUDIT_TRAIL_KEPT_MS = 365 * 24 * 3600 * 1000;
const AUDIT_ENTRIES_PURGED_PER_RUN = 5000;
const SIGN_IN_ROWS_PURGED_PER_RUN = 5000;
/** Keys of an agent that does not come any more, or whose directory has been down for as long. */
const DIRECTORY_KEPT_MS = 7 * 24 * 3600 * 1000;
const DIRECTORIES_PURGED_PER_RUN = 5000;

/** Alerts older than this are no longer listed. */
const ALERTS_KEPT_MS = 90 * 24 * 3600 * 1000;
const ALERTS_PURGED_PER_RUN = 5000;

const tasks: readonly ScheduledTask[] = [
  {
    name: 'pow-keys',
    // Before midnight, so that no visitor waits for those of the next day.
    run: (store, nowMs) => preparePowKeys(store, [keyDay(nowMs), keyDay(nowMs) + 1], nowMs),
  },
  {
    name: 'rule-group-removals',
    async run(store, nowMs) {
      await resumeGroupRemovals(store, nowMs, Date.now);
    },
  },
  {
    name: 'expired-access-rules',
    async run(store, nowMs) {
      await purgeExpiredAccessControlRules(store, nowMs - EXPIRED_RULE_KEPT_MS, EXPIRED_RULES_PURGED_PER_RUN);
    },
  },
  {
    name: 'expired-api-keys',
    run: (store, nowMs) => purgeExpiredApiKeys(store, nowMs - EXPIRED_KEY_KEPT_MS, EXPIRED_KEYS_PURGED_PER_RUN),
  },
  {
    name: 'old-audit-entries',
    run: (store, nowMs) => purgeManagementAudit(store, nowMs - AUDIT_TRAIL_KEPT_MS, AUDIT_ENTRIES_PURGED_PER_RUN),
  },
  { name: 'old-sign-ins', run: (store, nowMs) => purgeSignIn(store, nowMs, SIGN_IN_ROWS_PURGED_PER_RUN) },
  {
    name: 'old-agent-directories',
    run: (store, nowMs) => purgeDirectories(store, nowMs - DIRECTORY_KEPT_MS, DIRECTORIES_PURGED_PER_RUN),
  },
  { name: 'old-refused-verdicts', run: dropOldRefused },
  { name: 'dead-letters', run: replayDeadLetters },
  { name: 'deleted-instances', run: retireDeletedInstances },
  { name: 'bot-ranges', run: refreshRanges },
  { name: 'bot-tables', run: buildBotTables },
  {
    name: 'old-alerts',
    run: (store, nowMs) => purgeAlerts(store, nowMs - ALERTS_KEPT_MS, ALERTS_PURGED_PER_RUN),
  },
  { name: 'attack-modes', run: endAttackModes },
  { name: 'alert-api-keys', run: watchApiKeys },
  { name: 'alert-instances', run: watchInstances },
  { name: 'old-alert-states', run: purgeStates },
  // By the clock: the tasks before it take time, and a webhook that is signed for minutes ago is refused.
  { name: 'alert-deliveries', run: (store, _nowMs, outbound) => deliverDue(store, postingOver(outbound), Date.now()) },
  // Last: publishers can take minutes to answer.
  { name: 'lists', run: refreshDueLists },
];

/** `nowMs`: when the run was due. */
export async function runScheduled(nowMs: number, { store, outbound }: ScheduledEnvironment): Promise<void> {
  for (const task of tasks) {
    try {
      await task.run(store, nowMs, outbound);
    } catch (error) {
      console.error(JSON.stringify({ event: 'scheduled-task-failed', task: task.name, message: String(error) }));
    }
  }
}
