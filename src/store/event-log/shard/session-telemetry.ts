/**
 * Reports of the protect script about a session, stored in the shard of the session's verdicts, so that one object
 * returns all of it and one erasure removes all of it.
 */
import type { TelemetryReport } from '../shard-rpc.ts';

/** A page reports every few seconds; an hour of reports is enough to explain a score. */
const REPORTS_PER_SESSION_MAX = 500;

export function appendTelemetry(sql: SqlStorage, report: TelemetryReport): void {
  sql.exec(
    `INSERT INTO telemetry (jti, ts, id, body)
     SELECT ?1, ?2, ?3, ?4 WHERE (SELECT COUNT(*) FROM telemetry WHERE jti = ?1) < ?5 ON CONFLICT DO NOTHING`,
    report.jti,
    report.timestamp,
    report.id,
    report.body,
    REPORTS_PER_SESSION_MAX,
  );
}

/** Oldest first. */
export function readTelemetry(sql: SqlStorage, jti: string): TelemetryReport[] {
  return sql
    .exec<{ jti: string; timestamp: number; id: string; body: string }>(
      'SELECT jti, ts AS timestamp, id, body FROM telemetry WHERE jti = ? ORDER BY ts, id',
      jti,
    )
    .toArray();
}
