/**
 * Hands reports of pages to the log in batches, after the response. Each gets a number of this isolate before it is
 * sent, so that a batch that is sent again is stored once.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import type { TelemetryReport } from '../../contract/edge/telemetry.ts';
import type { Batcher } from '../../logsink/batcher.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { appendReports, telemetryLogOf } from '../../store/event-log/client/telemetry-log.ts';
import type { TelemetryRecord } from '../../store/event-log/telemetry-record.ts';
import type { ServiceStore } from '../environment.ts';
import { isolateBatcher } from './isolate-batcher.ts';

interface Entry {
  instance: Pick<StoredInstance, 'id' | 'retentionDays'>;
  record: TelemetryRecord;
}

/** What a report says for the score counts at once. In the log it explains one, which can wait. */
const WINDOW = { windowMs: 5000, busyFromEntries: 0, busyWindowMs: 5000 };
/** Instances that this isolate numbers reports of. With more of them it begins again, under another name. */
const NUMBERED_MAX = 10_000;

/** One batcher for all requests of an isolate, which share their bindings. */
const batchers = new WeakMap<ServiceStore, Batcher<Entry>>();
/** Instance → number of its next report. */
const numbers = new Map<string, number>();
let isolate = '';

/** Returns at once. */
export function recordTelemetry(
  { store, waitUntil }: { store: ServiceStore; waitUntil: WaitUntil },
  instance: Entry['instance'],
  { id, timestamp, jti, report }: { id: string; timestamp: number; jti: string; report: TelemetryReport },
): void {
  let batcher = batchers.get(store);
  if (batcher === undefined) batchers.set(store, (batcher = telemetryBatcher(store)));
  const record: TelemetryRecord = {
    v: 1,
    id,
    timestamp,
    instance_id: instance.id,
    jti,
    report,
    edge: nextNumber(instance.id),
  };
  batcher.add({ instance, record }, waitUntil);
}

function nextNumber(instanceId: string): TelemetryRecord['edge'] {
  if (isolate === '' || (numbers.size >= NUMBERED_MAX && !numbers.has(instanceId))) {
    // Not at module start: Workers allow randomness only within requests.
    isolate = crypto.randomUUID();
    numbers.clear();
  }
  const seq = numbers.get(instanceId) ?? 0;
  numbers.set(instanceId, seq + 1);
  return { isolate, seq };
}

function telemetryBatcher(store: ServiceStore): Batcher<Entry> {
  return isolateBatcher('telemetry-dropped', WINDOW, (entries) => {
    const byInstance = Map.groupBy(entries, ({ instance }) => instance.id);
    return Promise.all(
      [...byInstance.values()].map(async ([first, ...others]) => {
        if (first === undefined) return;
        const { instance, record } = first;
        const records = [record, ...others.map((entry) => entry.record)];
        const arrival = { retentionDays: instance.retentionDays, nowMs: record.timestamp };
        await appendReports(store, telemetryLogOf(instance), records, arrival);
      }),
    );
  });
}
