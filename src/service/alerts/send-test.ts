/** "Send a test": one alert to one channel, at once, whatever its quiet hours are. It is not repeated. */
import { type Alert, alertId } from '../../alerts/alert.ts';
import { summaryOf } from '../../alerts/kind-words.ts';
import { failed, type Result } from '../../result.ts';
import { UNREADABLE, openChannels } from '../../store/d1/alert-channels.ts';
import { noteSent, noteTestFailed } from '../../store/d1/alert-deliveries.ts';
import { recordAlert } from '../../store/d1/alerts.ts';
import type { ServiceStore } from '../environment.ts';
import type { PostAlert } from './post-alert.ts';

interface SentTest {
  alertId: string;
  outcome: Result<null, string>;
}

/** `null`: the channel is switched off. */
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
  const outcome = channel === 'unreadable' ? failed(UNREADABLE) : await post(channel, alert, nowMs);
  await (outcome.ok ? noteSent(store, delivery, nowMs) : noteTestFailed(store, delivery, outcome.error, nowMs));
  return { alertId: id, outcome };
}
