/**
 * States that may become alerts, in D1. A change is made only from the state that it was computed from, in one
 * transaction with its alert. So of two runs at the same time one changes the state, and the other changes nothing.
 */
import type { Alert, AlertFacts } from '../../alerts/alert.ts';
import type { KnownState } from '../../alerts/state-change.ts';
import type { AlertKind } from '../../contract/management/alerts.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { recordAlert } from './alerts.ts';
import { fromRow, type Row } from './rows.ts';
import { storedInstance, type StoredInstance } from './instances.ts';

/** Of one instance. */
interface StateKey {
  accountId: string;
  instanceId: string;
  kind: AlertKind;
  subject: string;
}

export interface StoredState extends KnownState, Pick<StateKey, 'kind' | 'subject'> {
  /** Of when it was seen last. */
  facts: AlertFacts;
  /** Another one after every change. */
  mark: string;
}

const storedState = fromRow<StoredState>({
  kind: 'plain',
  subject: 'plain',
  phase: 'plain',
  since: 'plain',
  begunAt: 'plain',
  facts: 'json',
  mark: 'plain',
});

const MARK_BYTES = 9;
const OF_KEY = 'account_id = ? AND instance_id = ? AND kind = ? AND subject = ?';

export async function statesOf(env: StoreEnv, accountId: string, instanceId: string): Promise<StoredState[]> {
  const { results } = await env.DB.prepare(
    'SELECT kind, subject, phase, since, begun_at, facts, mark FROM alert_states WHERE account_id = ? AND instance_id = ?',
  )
    .bind(accountId, instanceId)
    .all<Row>();
  return results.map(storedState);
}

/** The statements that change one state, and record its alert, unless somebody else has changed it since `mark`. */
export function changeState(
  env: StoreEnv,
  key: StateKey,
  mark: string | null,
  { next, facts, alert }: { next: KnownState | null; facts: AlertFacts; alert: Alert | null },
): D1PreparedStatement[] {
  const values = [key.accountId, key.instanceId, key.kind, key.subject];
  const isUnchanged = {
    sql: `(SELECT mark FROM alert_states WHERE ${OF_KEY}) IS ?`,
    values: [...values, mark],
  };
  // The state changes last, because the alert looks at the one before.
  return [...(alert === null ? [] : recordAlert(env, alert, isUnchanged)), stateWrite()];

  function stateWrite(): D1PreparedStatement {
    if (next === null) {
      return env.DB.prepare(`DELETE FROM alert_states WHERE ${OF_KEY} AND mark = ?`).bind(...values, mark);
    }
    return env.DB.prepare(
      `INSERT INTO alert_states (account_id, instance_id, kind, subject, phase, since, begun_at, facts, mark)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
       WHERE (SELECT mark FROM alert_states WHERE account_id = ?1 AND instance_id = ?2 AND kind = ?3 AND subject = ?4) IS ?10
       ON CONFLICT (account_id, instance_id, kind, subject) DO UPDATE SET phase = excluded.phase, since = excluded.since,
         begun_at = excluded.begun_at, facts = excluded.facts, mark = excluded.mark`,
    ).bind(...values, next.phase, next.since, next.begunAt, JSON.stringify(facts), randomToken(MARK_BYTES), mark);
  }
}

/** States of instances that are no longer active: nobody will see them end. */
export async function purgeStates(env: StoreEnv): Promise<void> {
  const isGone = '(SELECT id FROM protect_instances WHERE active = 1)';
  await env.DB.batch([
    env.DB.prepare(`DELETE FROM alert_states WHERE instance_id NOT IN ${isGone}`),
    env.DB.prepare(`DELETE FROM alert_checks WHERE instance_id NOT IN ${isGone}`),
  ]);
}

/** Which instances are looked at next, and what their edges had counted the last time. */
export interface DueCheck {
  instance: StoredInstance;
  /** What the last check left; `null` at the first. */
  remembered: string | null;
}

/**
 * Active instances whose check is due, those that wait longest first. Each is put off until `againAt`, so that parallel
 * runs take other ones, and a check that fails is repeated then.
 */
export async function takeDueChecks(env: StoreEnv, limit: number, nowMs: number, againAt: number): Promise<DueCheck[]> {
  const [, due] = await env.DB.batch<{ id: string; counters: string | null }>([
    env.DB.prepare(
      `INSERT INTO alert_checks (instance_id, due_at) SELECT instance.id, 0 FROM protect_instances AS instance
       JOIN accounts ON accounts.id = account_id WHERE instance.active = 1 AND disabled = 0 ON CONFLICT DO NOTHING`,
    ),
    env.DB.prepare(
      `UPDATE alert_checks SET due_at = ?1 WHERE instance_id IN (
         SELECT instance_id FROM alert_checks JOIN protect_instances AS instance ON instance.id = instance_id
         JOIN accounts ON accounts.id = account_id
         WHERE due_at <= ?2 AND instance.active = 1 AND disabled = 0 ORDER BY due_at LIMIT ?3)
       RETURNING instance_id AS id, counters`,
    ).bind(againAt, nowMs, limit),
  ]);
  const taken = new Map(due?.results.map(({ id, counters }) => [id, counters]));
  if (taken.size === 0) return [];
  const rows = await env.DB.prepare(
    'SELECT * FROM protect_instances WHERE id IN (SELECT value FROM json_each(?)) AND active = 1',
  )
    .bind(JSON.stringify([...taken.keys()]))
    .all<Row>();
  return rows.results.map((row) => ({
    instance: storedInstance(row),
    remembered: taken.get(row['id'] as string) ?? null,
  }));
}

/** For the next check. */
export async function rememberCheck(env: StoreEnv, instanceId: string, remembered: string): Promise<void> {
  await env.DB.prepare('UPDATE alert_checks SET counters = ? WHERE instance_id = ?').bind(remembered, instanceId).run();
}
