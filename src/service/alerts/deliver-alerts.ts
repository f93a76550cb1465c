/**
 * Sends what is due: each delivery is taken, tried once and noted. A sender that is stopped in between leaves a delivery
 * that is taken again, so nothing is lost, and the receiver knows a second copy by its id.
 */
import { retryAt, sendableAt } from '../../alerts/alert-times.ts';
import { CHANNEL_UNREADABLE, openChannels, type OpenChannel } from '../../store/d1/alert-channels.ts';
import {
  giveUp,
  noteFailed,
  noteSent,
  noteTestFailed,
  postpone,
  takeDueDeliveries,
  type TakenDelivery,
} from '../../store/d1/alert-deliveries.ts';
import { alertsById, recordAlert } from '../../store/d1/alerts.ts';
import type { ServiceStore } from '../environment.ts';
import { messageFor } from '../../alerts/message.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { publicPlaceOf } from '../proofs/outbound.ts';
import { alertId, type Alert } from '../../alerts/alert.ts';
import { summaryOf } from '../../alerts/kind-words.ts';

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
    alertsById(store, [...new Set(taken.map((delivery) => delivery.alertId))]),
  ]);
  const outcomes = await Promise.allSettled(
    taken.map((delivery) => {
      const channel = channels.get(delivery.channelId);
      const alert = alerts.get(delivery.alertId);
      if (channel === undefined || alert === undefined) return giveUp(store, delivery, 'The channel is switched off');
      if (channel === 'unreadable') return noteRefused(store, delivery, CHANNEL_UNREADABLE, nowMs);
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

/**
 * One attempt to send an alert. The address is an operator's text, so only public hosts are called, as for directories of
 * agents: https, the standard port, no private network, no redirect. What the receiver says is not read.
 */
export type PostAlert = (channel: OpenChannel, alert: Alert, nowMs: number) => Promise<Result<null, string>>;

const TIMEOUT_MS = 10_000;

/** @returns why it was not accepted, in words that may be shown. */
export function postingOver(settings: OutboundSettings): PostAlert {
  return async function postAlert(channel, alert, nowMs) {
    const place = await publicPlaceOf(new URL(channel.url), settings);
    if (!place.ok) return failed(refusals[place.error.kind] ?? 'No connection');
    const { headers, body } = messageFor(channel.shape, alert, channel.secrets, nowMs);
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await fetch(place.value, { method: 'POST', redirect: 'manual', headers, body, signal });
      await response.body?.cancel();
      const { status } = response;
      if (status >= 200 && status < 300) return ok(null);
      return failed(status >= 300 && status < 400 ? `Redirect ${status}, which is not followed` : `Status ${status}`);
    } catch (error) {
      return failed(error instanceof Error && error.name === 'TimeoutError' ? 'No answer in time' : 'No connection');
    }
  };
}

const refusals: Readonly<Record<string, string>> = {
  host: 'The host is not a public one',
  dns: 'The host has no address',
  'private-address': 'The host is in a private network',
};

interface SentTest {
  alertId: string;
  outcome: Result<null, string>;
}

/**
 * "Send a test": one alert to one channel, at once, whatever its quiet hours are. It is not repeated. `null`: the channel
 * is switched off.
 */
export async function sendTest(
  store: ServiceStore,
  post: PostAlert,
  { accountId, channelId, moment }: { accountId: string; channelId: string; moment: string },
  nowMs: number,
): Promise<SentTest | null> {
  const channel = (await openChannels(store, [channelId], nowMs)).get(channelId);
  if (channel === undefined) return null;
  const identity = { accountId, instanceId: null, kind: 'test', phase: 'once', subject: channelId } as const;
  const id = await alertId({ ...identity, moment });
  const summary = summaryOf({ ...identity, facts: {} }, channel === 'unreadable' ? channelId : channel.name);
  const alert: Alert = { id, ...identity, at: nowMs, summary, facts: {} };
  await store.DB.batch(recordAlert(store, alert, undefined, { channelId }));
  const delivery = { alertId: id, channelId, attempts: 1, firstAt: nowMs };
  const outcome = channel === 'unreadable' ? failed(CHANNEL_UNREADABLE) : await post(channel, alert, nowMs);
  await (outcome.ok ? noteSent(store, delivery, nowMs) : noteTestFailed(store, delivery, outcome.error, nowMs));
  return { alertId: id, outcome };
}
