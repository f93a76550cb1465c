/** Deleting a rule group is a job: the service is stopped in the middle of it, and the next one finishes it. */
import { Miniflare } from 'miniflare';
import { expect, test } from 'vitest';
import { runtimeOptions } from '../../src/cli/runtime-options.ts';
import { SERVICE_CONFIG } from '../../src/cli/service-worker.ts';
import { ownRuntimes } from '../../src/cli/state-owner.ts';
import { StateDir } from '../../src/cli/state.ts';
import { databaseIdOf, moduleManifest, readWranglerFile } from '../../src/cli/worker-config.ts';
import { stackNow } from '../support/clock.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

/** Twenty steps, so that the service stops in the middle. */
const RULES = 20_000;
const OTHER_RULES = 100;

interface Job {
  status: 'pending' | 'finished';
  deletedCount: number;
  finishedAt: number | null;
}

const stack = useStack();

/** Written straight into the table of the stopped service, because twenty thousand calls take longer than the test. */
async function insertRules(stateDir: string, accountId: string, group: string): Promise<void> {
  const file = readWranglerFile(SERVICE_CONFIG);
  const miniflare = new Miniflare({
    ...runtimeOptions('service', new StateDir(stateDir).storage('service'), true),
    workers: [
      {
        config: {
          name: file.name,
          compatibilityDate: file.compatibility_date,
          manifest: moduleManifest('export default {};'),
          env: { DB: { type: 'd1', id: databaseIdOf(file) } },
        },
      },
    ],
  });
  try {
    const database = await miniflare.getD1Database('DB');
    const statement = database.prepare(
      `INSERT INTO access_control_rules (account_id, user_scope_hash, type, conditions, rule_group_id, expiry, created_at,
         updated_at)
       WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?3)
       SELECT ?1, lower(hex(randomblob(32))), 'block', printf('[{"field":"userId","value":"u%d"}]', value), ?2, ?4, ?5, ?5
       FROM n`,
    );
    const now = stackNow();
    await statement.bind(accountId, group, RULES, now + 3_600_000, now).run();
    await statement.bind(accountId, 'kept', OTHER_RULES, now + 3_600_000, now).run();
  } finally {
    await miniflare.dispose();
  }
}

test('a removal that lost its service in the middle is finished by the next one, which reports it', async () => {
  const { job, victim } = await startedRemoval('doomed');
  process.kill(victim, 'SIGKILL');
  await stack().stopService();
  await stack().startService();
  const between = await job();
  expect([between.status, between.finishedAt]).toEqual(['pending', null]);
  expect(between.deletedCount).toBeLessThan(RULES);

  const finished = await eventually(job, ({ status }) => status === 'finished');
  expect(finished).toMatchObject({ ruleGroupId: 'doomed', deletedCount: RULES });
  const left = await manage<{ ruleGroupsAndCounts: object[] }>(stack(), '/access-control/get', {});
  expect(left.ruleGroupsAndCounts).toEqual([{ ruleGroupId: 'kept', count: OTHER_RULES }]);
});

test('a service whose process ends comes back by itself, with its scheduled runs and the way in for commands', async () => {
  const { job, victim } = await startedRemoval('lost');
  process.kill(victim, 'SIGKILL');
  const rootKey = () =>
    stack()
      .rootKey()
      .catch(() => null);
  expect(await eventually(rootKey, (key) => key !== null)).toMatch(/^.{20,}$/);
  // A scheduled run finishes it.
  const asked = () => job().catch(() => null);
  expect(await eventually(asked, (found) => found?.status === 'finished')).toMatchObject({ deletedCount: RULES });
});

/** A removal of a large group in a new process of the service. */
async function startedRemoval(group: string): Promise<{ job: () => Promise<Job>; victim: number }> {
  const { stateDir, accountId } = stack();
  await stack().stopService();
  await insertRules(stateDir, accountId, group);
  const others = ownRuntimes();
  await stack().startService();
  const victim = ownRuntimes().find((pid) => !others.includes(pid)) as number;
  const { jobId } = await manage<{ jobId: string }>(stack(), '/access-control/group/delete', { ruleGroupId: group });
  const job = () => manage<Job>(stack(), '/access-control/group/job', { jobId });
  await eventually(job, ({ deletedCount }) => deletedCount > 0);
  return { job, victim };
}
