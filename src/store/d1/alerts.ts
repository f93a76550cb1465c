/**
 * Alerts in D1. An alert and its deliveries are written in one transaction and known by the alert's id, so that writing
 * it again adds nothing.
 */
import type { Alert } from '../../alerts/alert.ts';
import type { DeliveryState, SentKind } from '../../contract/management/alerts.ts';
import type { StoreEnv } from '../binding.ts';
import { fromRow, type Row } from './rows.ts';

interface StoredDelivery {
  channelId: string;
  /** `null`: the channel was deleted. */
  channelName: string | null;
  state: DeliveryState;
  attempts: number;
  triedAt: number | null;
  /** When it is tried next; `null` unless it waits. */
  dueAt: number | null;
  error: string | null;
}

interface StoredAlert extends Omit<Alert, 'accountId'> {
  deliveries: StoredDelivery[];
}

const storedAlert = fromRow<Alert>({
  id: 'plain',
  accountId: 'plain',
  instanceId: 'plain',
  kind: 'plain',
  phase: 'plain',
  subject: 'plain',
  at: 'plain',
  summary: 'plain',
  facts: 'json',
});

const storedDelivery = fromRow<StoredDelivery>({
  channelId: 'plain',
  channelName: 'plain',
  state: 'plain',
  attempts: 'plain',
  triedAt: 'plain',
  dueAt: 'plain',
  error: 'plain',
});

/**
 * The statements that record an alert, for the transaction of the caller. One that was recorded before stays as it is, and
 * goes to no channel that was made since. `condition`: SQL that must hold, with its own values. `only`: one channel that gets it, once and
 * from the caller, so nobody tries again where the caller is stopped; else every enabled one that wants its kind and was
 * there before.
 */
export function recordAlert(
  env: StoreEnv,
  alert: Alert,
  condition: { sql: string; values: readonly (string | number | null)[] } = { sql: '1', values: [] },
  only: { channelId: string } | null = null,
): D1PreparedStatement[] {
  const { id, accountId, instanceId, kind, phase, subject, at, summary, facts } = alert;
  return [
    env.DB.prepare(
      `INSERT INTO alerts (id, account_id, instance_id, kind, phase, subject, at, summary, facts)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${condition.sql} ON CONFLICT (id) DO NOTHING`,
    ).bind(id, accountId, instanceId, kind, phase, subject, at, summary, JSON.stringify(facts), ...condition.values),
    env.DB.prepare(
      `INSERT INTO alert_deliveries (alert_id, channel_id, state, attempts, first_at, due_at, error)
       SELECT alerts.id, channel.id, ?4, ?5, alerts.at, alerts.at, ?6
       FROM alerts JOIN alert_channels AS channel ON channel.account_id = alerts.account_id
       WHERE alerts.id = ?1 AND alerts.at = ?3 AND (channel.id = ?2 OR (
         ?2 IS NULL AND channel.enabled = 1 AND channel.created_at <= alerts.at
         AND (channel.kinds = '[]' OR alerts.kind IN (SELECT value FROM json_each(channel.kinds)))))
       ON CONFLICT (alert_id, channel_id) DO NOTHING`,
    ).bind(
      id,
      only?.channelId ?? null,
      at,
      only === null ? 'waiting' : 'given-up',
      only === null ? 0 : 1,
      only === null ? null : 'The attempt was cut short',
    ),
  ];
}

/** Newest first; `before` is the last alert of the page before. */
export async function alertPage(
  env: StoreEnv,
  accountId: string,
  filter: { instanceId: string | null; kind: SentKind | null; limit: number },
  before: { at: number; id: string } | null,
): Promise<StoredAlert[]> {
  const { results } = await env.DB.prepare(
    `SELECT * FROM alerts WHERE account_id = ?1 AND (?2 IS NULL OR instance_id = ?2) AND (?3 IS NULL OR kind = ?3)
       AND (?4 IS NULL OR (at, id) < (?4, ?5)) ORDER BY at DESC, id DESC LIMIT ?6`,
  )
    .bind(accountId, filter.instanceId, filter.kind, before?.at ?? null, before?.id ?? null, filter.limit)
    .all<Row>();
  const deliveries = await env.DB.prepare(
    `SELECT delivery.alert_id, delivery.channel_id, channel.name AS channel_name, delivery.state, delivery.attempts,
       delivery.tried_at, IIF(delivery.state = 'waiting', delivery.due_at, NULL) AS due_at, delivery.error FROM alert_deliveries AS delivery
     LEFT JOIN alert_channels AS channel ON channel.id = delivery.channel_id
     WHERE alert_id IN (SELECT value FROM json_each(?)) ORDER BY channel_id`,
  )
    .bind(JSON.stringify(results.map((row) => row['id'])))
    .all<Row>();
  const byAlert = Map.groupBy(deliveries.results, (row) => row['alert_id']);
  return results.map((row) => {
    const { accountId: _accountId, ...alert } = storedAlert(row);
    return { ...alert, deliveries: (byAlert.get(alert.id) ?? []).map(storedDelivery) };
  });
}

/** The alerts with these ids. */
export async function alertsById(env: StoreEnv, ids: readonly string[]): Promise<Map<string, Alert>> {
  const { results } = await env.DB.prepare('SELECT * FROM alerts WHERE id IN (SELECT value FROM json_each(?))')
    .bind(JSON.stringify(ids))
    .all<Row>();
  return new Map(results.map(storedAlert).map((alert) => [alert.id, alert]));
}

/** Deletes alerts older than `before` with their deliveries, at most `limit` of them. */
export async function purgeAlerts(env: StoreEnv, before: number, limit: number): Promise<void> {
  const old = 'SELECT id FROM alerts WHERE at < ?1 ORDER BY at LIMIT ?2';
  await env.DB.batch([
    env.DB.prepare(`DELETE FROM alert_deliveries WHERE alert_id IN (${old})`).bind(before, limit),
    env.DB.prepare(`DELETE FROM alerts WHERE id IN (${old})`).bind(before, limit),
  ]);
}
