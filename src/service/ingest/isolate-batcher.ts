/**
 * Batches of what the service itself records, handed to the log after the response. A batch may be sent again, so its
 * receiver drops second copies. After three attempts its entries are dropped, and a log line says how many.
 */
import { deliverWithRetries } from '../../logsink/sink.ts';
import { Batcher, systemClock, type BatchBounds } from '../../logsink/batcher.ts';

const BOUNDS = {
  // One RPC for many entries; a shard takes 500 rows at most.
  batchMaxEntries: 250,
  // About 20 MB, out of the 128 MB of an isolate.
  bufferMaxEntries: 20_000,
  inFlightMaxBatches: 16,
};

/** How long entries wait for others, because a batch is one row of the log. */
type Window = Pick<BatchBounds, 'windowMs' | 'busyFromEntries' | 'busyWindowMs'>;

/** `event` names the log line of dropped entries. `send` may be called again with the same entries. */
export function isolateBatcher<Entry>(
  event: string,
  window: Window,
  send: (entries: readonly Entry[]) => Promise<unknown>,
): Batcher<Entry> {
  const dropped = (entries: number, reason: string): void => {
    console.error(JSON.stringify({ event, entries, reason }));
  };
  return new Batcher({
    bounds: { ...BOUNDS, ...window },
    clock: systemClock,
    async deliver(entries) {
      let reason = '';
      const isDelivered = await deliverWithRetries(
        () => send(entries),
        systemClock,
        (error) => (reason = String(error)),
      );
      if (!isDelivered) dropped(entries.length, reason);
    },
    onOverflow: () => dropped(1, 'buffer-full'),
  });
}
