/** What a stored verdict adds to the counters of its log (`GET /protect/metrics`). */
import type { LogRecord } from './log-record.ts';

/** Few names: a status that is none is not counted. */
export function trafficCounters({ decision, source, status, origin_ms: originMs }: LogRecord): string[] {
  const counted = [`requests{decision="${decision}"}`, `request_sources{source="${source}"}`];
  const hundreds = Math.trunc(Number(status) / 100);
  if (originMs != null && hundreds >= 1 && hundreds <= 9) counted.push(`origin_responses{class="${hundreds}xx"}`);
  return counted;
}
