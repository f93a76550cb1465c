/**
 * Sends what is due: each delivery is taken, tried once and noted. A sender that is stopped in between leaves a delivery
 * that is taken again, so nothing is lost, and the receiver knows a second copy by its id.
 */
import type { Alert } from '../../alerts/alert.ts';
import { sendableAt } from '../../alerts/quiet-hours.ts';
import { retryAt } from '../../alerts/retry-schedule.ts';
import { type OpenChannel, openChannels, UNREADABLE } from '../../store/d1/alert-channels.ts';
import {
  giveUp,
  noteFailed,
  noteSent,
  postpone,
  takeDueDeliveries,
  type TakenDelivery,
} from '../../store/d1/alert-deliveries.ts';
import { alertsById } from '../../store/d1/alerts.ts';
import type { ServiceStore } from '../environment.ts';
import type { PostAlert } from './post-alert.ts';

/** A delivery is up to four calls. One task must not use up the subrequests of the whole run. */
const DELIVERIES_PER_RUN = 60;
/** A receiver that never answers keeps as many of the calls, and no more. */
const PER_CHANNEL = 10;
/** An attempt takes 16 seconds at most. */
const TAKEN_MS = 120_000;

/** `first`: alerts that wait for no others. */
export async function deliverDue(
  store: ServiceStore,
  post: PostAlert,
  nowMs: number,
  first: readonly string[] = [],
): Promise<void> {
  const bounds = { limit: DELIVERIES_PER_RUN, perChannel: PER_CHANNEL, untilMs: nowMs + TAKEN_MS, first };
  const taken = await takeDueDeliveries(store, bounds, nowMs);
  if (taken.length === 0) return;
  const [channels, alerts] = await Promise.all([
    openChannels(store, [...new Set(taken.map(({ channelId }) => channelId))], nowMs),
    alertsById(store, [...new Set(taken.map(({ alertId }) => alertId))]),
  ]);
  const outcomes = await Promise.allSettled(
    taken.map((delivery) => {
      const channel = channels.get(delivery.channelId);
      const alert = alerts.get(delivery.alertId);
      if (channel === undefined || alert === undefined) return giveUp(store, delivery, 'The channel is switched off');
      if (channel === 'unreadable') return noteRefused(store, delivery, UNREADABLE, nowMs);
      return deliver(store, post, { delivery, channel, alert }, nowMs);
    }),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') warn(String(outcome.reason));
  }
}

interface Sending {
  delivery: TakenDelivery;
  channel: OpenChannel;
  alert: Alert;
}

async function deliver(
  store: ServiceStore,
  post: PostAlert,
  { delivery, channel, alert }: Sending,
  nowMs: number,
): Promise<void> {
  const sendable = sendableAt(channel.quietHours, alert.kind, nowMs);
  if (sendable > nowMs) return postpone(store, delivery, sendable);
  const posted = await post(channel, alert, nowMs);
  if (posted.ok) return noteSent(store, delivery, nowMs);
  return noteRefused(store, delivery, posted.error, nowMs);
}

function noteRefused(store: ServiceStore, delivery: TakenDelivery, error: string, nowMs: number): Promise<void> {
  const againAt = retryAt(delivery.attempts, delivery.firstAt, nowMs, Math.random());
  if (againAt === null) warn(`${delivery.channelId} accepted no attempt of a day: ${error}`);
  return noteFailed(store, delivery, error, againAt, nowMs);
}

function warn(message: string): void {
  console.warn(JSON.stringify({ event: 'alert-not-delivered', message }));
}
