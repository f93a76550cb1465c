/**
 * States that may become alerts, in D1. A change is made only from the state that it was computed from, in one
 * transaction with its alert. So of two runs at the same time one changes the state, and the other changes nothing.
 */
import { sql, statement } from '../sql.ts';
import type { Alert, AlertFacts } from '../../alerts/alert.ts';
import type { KnownState } from '../../alerts/state-change.ts';
import type { AlertKind } from '../../contract/management/alerts.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { recordAlert } from './alerts.ts';
import { fromJson, fromRow, plain, type Row } from './rows.ts';
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
  kind: plain(),
  subject: plain(),
  phase: plain(),
  since: plain(),
  begunAt: plain(),
  facts: fromJson(),
  mark: plain(),
});

const MARK_BYTES = 9;

export async function statesOf(env: StoreEnv, accountId: string, instanceId: string): Promise<StoredState[]> {
  const { results } = await statement(env)`
    SELECT kind, subject, phase, since, begun_at, facts, mark FROM alert_states
    WHERE account_id = ${accountId} AND instance_id = ${instanceId}`.all<Row>();
  return results.map(storedState);
}

/** The statements that change one state, and record its alert, unless somebody else has changed it since `mark`. */
export function changeState(
  env: StoreEnv,
  key: StateKey,
  mark: string | null,
  { next, facts, alert }: { next: KnownState | null; facts: AlertFacts; alert: Alert | null },
): D1PreparedStatement[] {
  const { accountId, instanceId, kind, subject } = key;
  const isOfKey = sql`account_id = ${accountId} AND instance_id = ${instanceId} AND kind = ${kind}
    AND subject = ${subject}`;
  const isUnchanged = sql`(SELECT mark FROM alert_states WHERE ${isOfKey}) IS ${mark}`;
  // The state changes last, because the alert looks at the one before.
  return [...(alert === null ? [] : recordAlert(env, alert, isUnchanged)), stateWrite()];

  function stateWrite(): D1PreparedStatement {
    if (next === null) return statement(env)`DELETE FROM alert_states WHERE ${isOfKey} AND mark = ${mark}`;
    return statement(env)`
      INSERT INTO alert_states (account_id, instance_id, kind, subject, phase, since, begun_at, facts, mark)
      SELECT ${accountId}, ${instanceId}, ${kind}, ${subject}, ${next.phase}, ${next.since}, ${next.begunAt},
        ${JSON.stringify(facts)}, ${randomToken(MARK_BYTES)} WHERE ${isUnchanged}
      ON CONFLICT (account_id, instance_id, kind, subject) DO UPDATE SET phase = excluded.phase, since = excluded.since,
        begun_at = excluded.begun_at, facts = excluded.facts, mark = excluded.mark`;
  }
}

/** States of instances that are no longer active: nobody will see them end. */
export async function purgeStates(env: StoreEnv): Promise<void> {
  const isGone = sql`(SELECT id FROM protect_instances WHERE active = 1)`;
  await env.DB.batch([
    statement(env)`DELETE FROM alert_states WHERE instance_id NOT IN ${isGone}`,
    statement(env)`DELETE FROM alert_checks WHERE instance_id NOT IN ${isGone}`,
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
    statement(env)`
      INSERT INTO alert_checks (instance_id, due_at) SELECT instance.id, 0 FROM protect_instances AS instance
      JOIN accounts ON accounts.id = account_id WHERE instance.active = 1 AND disabled = 0 ON CONFLICT DO NOTHING`,
    statement(env)`
      UPDATE alert_checks SET due_at = ${againAt} WHERE instance_id IN (
        SELECT instance_id FROM alert_checks JOIN protect_instances AS instance ON instance.id = instance_id
        JOIN accounts ON accounts.id = account_id
        WHERE due_at <= ${nowMs} AND instance.active = 1 AND disabled = 0 ORDER BY due_at LIMIT ${limit})
      RETURNING instance_id AS id, counters`,
  ]);
  const taken = new Map(due?.results.map(({ id, counters }) => [id, counters]));
  if (taken.size === 0) return [];
  const rows = await statement(env)`
    SELECT * FROM protect_instances
    WHERE id IN (SELECT value FROM json_each(${JSON.stringify([...taken.keys()])})) AND active = 1`.all<Row>();
  return rows.results.map((row) => ({
    instance: storedInstance(row),
    remembered: taken.get(row['id'] as string) ?? null,
  }));
}

/** For the next check. */
export async function rememberCheck(env: StoreEnv, instanceId: string, remembered: string): Promise<void> {
  await statement(env)`UPDATE alert_checks SET counters = ${remembered} WHERE instance_id = ${instanceId}`.run();
}
