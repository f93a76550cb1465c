/**
 * One report of the protect script, as the log keeps it: the third stream, beside verdicts and captchas. Numbered by the
 * isolate of the service that received it, as an edge numbers its verdicts, so that a batch that is sent twice is stored
 * once.
 */
import type { TelemetryReport } from '../../contract/edge/page-reports.ts';

export interface TelemetryRecord {
  v: 1;
  id: string;
  /** Epoch milliseconds: when the service received it. */
  timestamp: number;
  instance_id: string;
  jti: string;
  report: TelemetryReport;
  edge: { isolate: string; seq: number };
}

/** A page reports a few times. This many explain a score; a client that sends more is not a page. */
export const REPORTS_PER_SESSION_MAX = 500;
