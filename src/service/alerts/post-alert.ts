/**
 * One attempt to send an alert. The address is an operator's text, so only public hosts are called, as for directories of
 * agents: https, the standard port, no private network, no redirect. What the receiver says is not read.
 */
import type { Alert } from '../../alerts/alert.ts';
import { messageFor } from '../../alerts/shapes/message.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { OpenChannel } from '../../store/d1/alert-channels.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { placeOf } from '../proofs/outbound.ts';

export type PostAlert = (channel: OpenChannel, alert: Alert, nowMs: number) => Promise<Result<null, string>>;

const TIMEOUT_MS = 10_000;

/** @returns why it was not accepted, in words that may be shown. */
export function postingOver(settings: OutboundSettings): PostAlert {
  return async function postAlert(channel, alert, nowMs) {
    const place = await placeOf(new URL(channel.url), settings);
    if (!place.ok) return failed(refusals[place.error.kind] ?? 'No connection');
    const { headers, body } = await messageFor(channel.shape, alert, channel.secrets, nowMs);
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
