/**
 * Alerts in D1. An alert and its deliveries are written in one transaction and known by the alert's id, so that writing
 * it again adds nothing.
 */
import { sql, type Sql, statement } from '../sql.ts';
import type { Alert } from '../../alerts/alert.ts';
import type { DeliveryState, SentKind } from '../../contract/management/alerts.ts';
import type { StoreEnv } from '../binding.ts';
import { fromJson, fromRow, plain, type Row } from './rows.ts';

const storedDelivery = fromRow({
  channelId: plain<string>(),
  /** `null`: the channel was deleted. */
  channelName: plain<string | null>(),
  state: plain<DeliveryState>(),
  attempts: plain<number>(),
  triedAt: plain<number | null>(),
  /** When it is tried next; `null` unless it waits. */
  dueAt: plain<number | null>(),
  error: plain<string | null>(),
});
type StoredDelivery = ReturnType<typeof storedDelivery>;

interface StoredAlert extends Omit<Alert, 'accountId'> {
  deliveries: StoredDelivery[];
}

const storedAlert = fromRow<Alert>({
  id: plain(),
  accountId: plain(),
  instanceId: plain(),
  kind: plain(),
  phase: plain(),
  subject: plain(),
  at: plain(),
  summary: plain(),
  facts: fromJson(),
});

/**
 * The statements that record an alert, for the transaction of the caller. One that was recorded before stays as it is, and
 * goes to no channel that was made since. `condition`: SQL that must hold. `only`: one channel that gets it, once and
 * from the caller, so nobody tries again where the caller is stopped; else every enabled one that wants its kind and was
 * there before.
 */
export function recordAlert(
  env: StoreEnv,
  alert: Alert,
  condition: Sql = sql`1`,
  only: { channelId: string } | null = null,
): D1PreparedStatement[] {
  const { id, accountId, instanceId, kind, phase, subject, at, summary, facts } = alert;
  const channelId = only?.channelId ?? null;
  const [state, attempts, error] = only === null ? ['waiting', 0, null] : ['given-up', 1, 'The attempt was cut short'];
  return [
    statement(env)`
      INSERT INTO alerts (id, account_id, instance_id, kind, phase, subject, at, summary, facts)
      SELECT ${id}, ${accountId}, ${instanceId}, ${kind}, ${phase}, ${subject}, ${at}, ${summary},
        ${JSON.stringify(facts)} WHERE ${condition} ON CONFLICT (id) DO NOTHING`,
    statement(env)`
      INSERT INTO alert_deliveries (alert_id, channel_id, state, attempts, first_at, due_at, error)
      SELECT alerts.id, channel.id, ${state}, ${attempts}, alerts.at, alerts.at, ${error}
      FROM alerts JOIN alert_channels AS channel ON channel.account_id = alerts.account_id
      WHERE alerts.id = ${id} AND alerts.at = ${at} AND (channel.id = ${channelId} OR (
        ${channelId} IS NULL AND channel.enabled = 1 AND channel.created_at <= alerts.at
        AND (channel.kinds = '[]' OR alerts.kind IN (SELECT value FROM json_each(channel.kinds)))))
      ON CONFLICT (alert_id, channel_id) DO NOTHING`,
  ];
}

/** Newest first; `before` is the last alert of the page before. */
export async function alertPage(
  env: StoreEnv,
  accountId: string,
  filter: { instanceId: string | null; kind: SentKind | null; limit: number },
  before: { at: number; id: string } | null,
): Promise<StoredAlert[]> {
  const instance = filter.instanceId === null ? sql`` : sql`AND instance_id = ${filter.instanceId}`;
  const kind = filter.kind === null ? sql`` : sql`AND kind = ${filter.kind}`;
  const older = before === null ? sql`` : sql`AND (at, id) < (${before.at}, ${before.id})`;
  const { results } = await statement(env)`
    SELECT * FROM alerts
    WHERE account_id = ${accountId} ${instance} ${kind} ${older}
    ORDER BY at DESC, id DESC LIMIT ${filter.limit}`.all<Row>();
  const deliveries = await statement(env)`
    SELECT delivery.alert_id, delivery.channel_id, channel.name AS channel_name, delivery.state, delivery.attempts,
      delivery.tried_at, IIF(delivery.state = 'waiting', delivery.due_at, NULL) AS due_at, delivery.error
        FROM alert_deliveries AS delivery
    LEFT JOIN alert_channels AS channel ON channel.id = delivery.channel_id
    WHERE alert_id IN (SELECT value FROM json_each(${JSON.stringify(results.map((row) => row['id']))}))
      ORDER BY channel_id`.all<Row>();
  const byAlert = Map.groupBy(deliveries.results, (row) => row['alert_id']);
  return results.map((row) => {
    const { accountId: _accountId, ...alert } = storedAlert(row);
    return { ...alert, deliveries: (byAlert.get(alert.id) ?? []).map(storedDelivery) };
  });
}

/** The alerts with these ids. */
export async function alertsById(env: StoreEnv, ids: readonly string[]): Promise<Map<string, Alert>> {
  const { results } = await statement(env)`
    SELECT * FROM alerts WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`.all<Row>();
  return new Map(results.map(storedAlert).map((alert) => [alert.id, alert]));
}

/** Deletes alerts older than `before` with their deliveries, at most `limit` of them. */
export async function purgeAlerts(env: StoreEnv, before: number, limit: number): Promise<void> {
  const old = sql`SELECT id FROM alerts WHERE at < ${before} ORDER BY at LIMIT ${limit}`;
  await env.DB.batch([
    statement(env)`DELETE FROM alert_deliveries WHERE alert_id IN (${old})`,
    statement(env)`DELETE FROM alerts WHERE id IN (${old})`,
  ]);
}
