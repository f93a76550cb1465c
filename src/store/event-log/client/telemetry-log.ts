/**
 * The log of what pages reported about their sessions: appended and read like verdicts, and searched by session alone.
 */
import { everything } from '../row-filter.ts';
import type { RowKey } from '../log-row.ts';
import { telemetryTerms } from '../log-record.ts';
import { REPORTS_PER_SESSION_MAX, type TelemetryRecord } from '../telemetry-record.ts';
import { appendRows, type Arrival } from './append-verdicts.ts';
import type { LogName, ShardEnv } from './shards.ts';
import { readPage } from './verdict-page.ts';

export function telemetryLogOf(instance: { id: string }): LogName {
  return { stream: 'telemetry', owner: instance.id };
}

/** Idempotent by isolate and number. `records` are of one instance. */
export async function appendReports(
  env: ShardEnv,
  log: LogName,
  records: readonly TelemetryRecord[],
  arrival: Arrival,
): Promise<void> {
  const rows = records.map((record) => ({
    record: { ...telemetryTerms(record), edge: record.edge },
    kept: true,
    body: JSON.stringify(record),
  }));
  await appendRows(env, log, rows, arrival);
}

/** Of one session since then, oldest first. */
export async function sessionReports(
  env: ShardEnv,
  log: LogName,
  jti: string,
  since: number,
): Promise<TelemetryRecord[]> {
  const filter = { ...everything, since, jti };
  const records: TelemetryRecord[] = [];
  let before: RowKey | null = null;
  do {
    const limit = REPORTS_PER_SESSION_MAX - records.length;
    const page = await readPage(env, log, { filter, before, offset: 0, limit, wantTotal: false });
    records.push(...page.rows.map(({ body }) => JSON.parse(body) as TelemetryRecord));
    before = page.next;
  } while (before !== null && records.length < REPORTS_PER_SESSION_MAX);
  return records.toReversed();
}
