/**
 * Deliveries of alerts that wait. A sender that takes one has it for a while: others leave it alone until then, and take it up
 * again if its sender was stopped in between. So an alert is sent at least once, and a second time only after such a
 * stop, with the same id.
 */
import { statement } from '../sql.ts';
import type { StoreEnv } from '../binding.ts';
import { fromRow, plain, type Row } from './rows.ts';

const takenDelivery = fromRow({
  alertId: plain<string>(),
  channelId: plain<string>(),
  /** With this one. */
  attempts: plain<number>(),
  /** When the first attempt was due. */
  firstAt: plain<number>(),
});
export type TakenDelivery = ReturnType<typeof takenDelivery>;

/**
 * Takes deliveries that are due: those of the alerts in `first`, then the oldest of each account, its second oldest, and so
 * on, and a few of each channel. So no channel delays another, and no account another.
 */
export async function takeDueDeliveries(
  env: StoreEnv,
  {
    limit,
    perChannel,
    untilMs,
    first,
  }: { limit: number; perChannel: number; untilMs: number; first: readonly string[] },
  nowMs: number,
): Promise<TakenDelivery[]> {
  const { results } = await statement(env)`
    UPDATE alert_deliveries SET due_at = ${untilMs}, attempts = attempts + 1
    WHERE (alert_id, channel_id) IN (
      SELECT alert_id, channel_id FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY is_first DESC, due_at) AS turn FROM (
          SELECT alert_id, channel_id, account_id, due_at, is_first,
            ROW_NUMBER() OVER (PARTITION BY channel_id ORDER BY is_first DESC, due_at) AS place FROM (
            SELECT alert_id, channel_id, account_id, due_at,
              alert_id IN (SELECT value FROM json_each(${JSON.stringify(first)})) AS is_first
            FROM alert_deliveries JOIN alerts ON alerts.id = alert_id WHERE state = 'waiting' AND due_at <= ${nowMs}))
        WHERE place <= ${perChannel})
      ORDER BY is_first DESC, turn, due_at LIMIT ${limit})
    RETURNING alert_id, channel_id, attempts, first_at`.all<Row>();
  return results.map(takenDelivery);
}

export async function noteSent(env: StoreEnv, delivery: TakenDelivery, nowMs: number): Promise<void> {
  await statement(env)`
    UPDATE alert_deliveries SET state = 'sent', tried_at = ${nowMs}, error = NULL
    WHERE alert_id = ${delivery.alertId} AND channel_id = ${delivery.channelId}`.run();
}

/** `againAt`: `null` gives it up. Where another sender has taken it meanwhile, it is theirs. */
export async function noteFailed(
  env: StoreEnv,
  delivery: TakenDelivery,
  error: string,
  againAt: number | null,
  nowMs: number,
): Promise<void> {
  await statement(env)`
    UPDATE alert_deliveries SET state = ${againAt === null ? 'given-up' : 'waiting'},
      due_at = COALESCE(${againAt}, due_at), tried_at = ${nowMs}, error = ${error}
    WHERE alert_id = ${delivery.alertId} AND channel_id = ${delivery.channelId} AND state = 'waiting'
      AND attempts = ${delivery.attempts}`.run();
}

/** Quiet hours: it is not tried. Where it never was, its day begins when it may be. */
export async function postpone(env: StoreEnv, delivery: TakenDelivery, untilMs: number): Promise<void> {
  await statement(env)`
    UPDATE alert_deliveries SET due_at = ${untilMs}, first_at = IIF(attempts = 1, ${untilMs}, first_at),
      attempts = attempts - 1
    WHERE alert_id = ${delivery.alertId} AND channel_id = ${delivery.channelId} AND state = 'waiting'
      AND attempts = ${delivery.attempts}`.run();
}

/** A test that was not accepted: it is not waiting for another attempt. */
export async function noteTestFailed(
  env: StoreEnv,
  { alertId, channelId }: Pick<TakenDelivery, 'alertId' | 'channelId'>,
  error: string,
  nowMs: number,
): Promise<void> {
  await statement(env)`
    UPDATE alert_deliveries SET tried_at = ${nowMs}, error = ${error}
    WHERE alert_id = ${alertId} AND channel_id = ${channelId}`.run();
}

/** The channel is switched off or gone. */
export async function giveUp(env: StoreEnv, delivery: TakenDelivery, error: string): Promise<void> {
  await statement(env)`
    UPDATE alert_deliveries SET state = 'given-up', error = ${error}
    WHERE alert_id = ${delivery.alertId} AND channel_id = ${delivery.channelId} AND state = 'waiting'`.run();
}
