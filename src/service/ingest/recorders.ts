/** Hands what the service itself records to the logs in batches, after the response. */
import type { WaitUntil } from '../../bytes/polled.ts';
import type { TelemetryReport } from '../../contract/edge/page-reports.ts';
import type { Batcher } from '../../logsink/batcher.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { appendReports, telemetryLogOf } from '../../store/event-log/client/telemetry-log.ts';
import type { TelemetryRecord } from '../../store/event-log/telemetry-record.ts';
import type { ServiceStore } from '../environment.ts';
import { isolateBatcher } from './isolate-batcher.ts';
import { appendCaptchas } from '../../store/event-log/client/captcha-log.ts';
import type { CaptchaEvent } from '../../store/event-log/captcha-record.ts';

interface Entry {
  instance: Pick<StoredInstance, 'id' | 'retentionDays'>;
  record: TelemetryRecord;
}

/** What a report says for the score counts at once. In the log it explains one, which can wait. */
const REPORTS_WINDOW = { windowMs: 5000, busyFromEntries: 0, busyWindowMs: 5000 };
/** Instances that this isolate numbers reports of. With more of them it begins again, under another name. */
const NUMBERED_MAX = 10_000;

/** One batcher for all requests of an isolate, which share their bindings. */
const reportBatchers = new WeakMap<ServiceStore, Batcher<Entry>>();
/** Instance → number of its next report. */
const numbers = new Map<string, number>();
let isolate = '';

/**
 * Records a report of a page, and returns at once. Each report gets a number of this isolate before it is sent, so that a
 * batch that is sent again is stored once.
 */
export function recordTelemetry(
  { store, waitUntil }: { store: ServiceStore; waitUntil: WaitUntil },
  instance: Entry['instance'],
  { id, timestamp, jti, report }: { id: string; timestamp: number; jti: string; report: TelemetryReport },
): void {
  let batcher = reportBatchers.get(store);
  if (batcher === undefined) reportBatchers.set(store, (batcher = telemetryBatcher(store)));
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
  return isolateBatcher('telemetry-dropped', REPORTS_WINDOW, (entries) => {
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

const CAPTCHAS_WINDOW = { windowMs: 250, busyFromEntries: 2, busyWindowMs: 1000 };

const captchaBatchers = new WeakMap<ServiceStore, Batcher<CaptchaEvent>>();

/**
 * Hands captcha events to the log in batches, after the response: nobody waits for the record of what they did. Returns
 * at once. `waitUntil` must belong to the current request.
 */
export function recordCaptcha(store: ServiceStore, event: CaptchaEvent, waitUntil: WaitUntil): void {
  let batcher = captchaBatchers.get(store);
  if (batcher === undefined) {
    batcher = isolateBatcher('captcha-events-dropped', CAPTCHAS_WINDOW, (events) => appendCaptchas(store, events));
    captchaBatchers.set(store, batcher);
  }
  batcher.add(event, waitUntil);
}
