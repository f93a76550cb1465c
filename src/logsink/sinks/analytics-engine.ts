/**
 * Verdicts as Analytics Engine points, for dashboards beside the log. The platform samples points when it writes and
 * when it reads, so this sink never replaces the log, whose counts are exact. The order of columns is fixed: dashboards
 * name columns by number.
 */
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import { SinkError, type VerdictSink } from '../sink.ts';

/** The platform accepts 250 points in one invocation. */
const POINTS_MAX = 250;
/** All blobs of a point together hold 16 kB. Two long texts must leave room for the rest. */
const BLOB_MAX_CHARS = 1024;
/** An index holds 96 bytes. */
const INDEX_MAX_CHARS = 96;

export interface AnalyticsDataset {
  writeDataPoint(point: { indexes: string[]; blobs: (string | null)[]; doubles: number[] }): void;
}

export function analyticsEngineSink(dataset: AnalyticsDataset): VerdictSink {
  return {
    name: 'analytics-engine',
    recordsMax: POINTS_MAX,
    async send(batch) {
      if (batch.records.length > POINTS_MAX) throw new SinkError('more points than one invocation may write', false);
      for (const record of batch.records) dataset.writeDataPoint(pointOf(record));
    },
  };
}

/** blob1–blob15 and double1–double4, in the order written here. */
export function pointOf(record: VerdictRecord): { indexes: string[]; blobs: (string | null)[]; doubles: number[] } {
  return {
    indexes: [record.instance_id.slice(0, INDEX_MAX_CHARS)],
    blobs: [
      record.id,
      record.decision,
      record.source,
      record.decided_by,
      record.ip,
      record.ip_category.join(','),
      record.country,
      record.ja4,
      record.user_agent.slice(0, BLOB_MAX_CHARS),
      record.device_type,
      record.method,
      record.host,
      record.request_path.slice(0, BLOB_MAX_CHARS),
      record.session_status,
      record.jti,
    ],
    doubles: [record.asn ?? -1, record.risk_score ?? -1, record.status, record.fired_rules.length],
  };
}
