/**
 * The time range of a traffic call: two times, or a month with its year, or the current month; always UTC. A date
 * without a time as `endDate` includes that whole day.
 */
import type { ErrorDetail } from '../../../contract/errors.ts';
import type { DayOrInstant } from '../../../contract/management/time.ts';
import { OperationError } from '../operation-error.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A longer range is counted per day. */
const HOURLY_MAX_MS = 7 * DAY_MS;
/** Twenty years with their leap days, so 7,305 rows and 4 MB. Bounds the memory of one response. */
const RANGE_MAX_DAYS = 7305;
const RANGE_MAX_MS = RANGE_MAX_DAYS * DAY_MS;

export interface TrafficRange {
  /** Epoch milliseconds; `until` is exclusive. */
  since: number;
  until: number;
  granularity: 'hour' | 'day';
  bucketMs: number;
}

interface RangeInput {
  startDate?: DayOrInstant | undefined;
  endDate?: DayOrInstant | undefined;
  month?: number | undefined;
  year?: number | undefined;
}

export function trafficRange(input: RangeInput, nowMs: number): TrafficRange {
  const { since, until } = bounds(input, nowMs);
  if (until <= since) throw refused([{ path: 'endDate', message: 'must be after startDate' }]);
  if (until - since > RANGE_MAX_MS)
    throw refused([{ path: 'startDate', message: `is more than ${RANGE_MAX_DAYS} days before endDate` }]);
  const isHourly = until - since <= HOURLY_MAX_MS;
  return { since, until, granularity: isHourly ? 'hour' : 'day', bucketMs: isHourly ? HOUR_MS : DAY_MS };
}

function bounds(input: RangeInput, nowMs: number): { since: number; until: number } {
  const { startDate, endDate, month, year } = input;
  const hasDates = startDate !== undefined || endDate !== undefined;
  const hasMonth = month !== undefined || year !== undefined;
  if (hasDates && hasMonth)
    throw refused([{ path: 'month', message: 'cannot be combined with startDate and endDate' }]);
  if (hasDates) {
    if (startDate === undefined) throw refused([{ path: 'startDate', message: 'is needed with endDate' }]);
    if (endDate === undefined) throw refused([{ path: 'endDate', message: 'is needed with startDate' }]);
    return { since: startDate.ms, until: endDate.ms + (endDate.isDay ? DAY_MS : 0) };
  }
  if (hasMonth && year === undefined) throw refused([{ path: 'year', message: 'is needed with month' }]);
  if (hasMonth && month === undefined) throw refused([{ path: 'month', message: 'is needed with year' }]);
  const today = new Date(nowMs);
  const wantedYear = year ?? today.getUTCFullYear();
  const monthIndex = month === undefined ? today.getUTCMonth() : month - 1;
  return { since: Date.UTC(wantedYear, monthIndex, 1), until: Date.UTC(wantedYear, monthIndex + 1, 1) };
}

function refused(details: ErrorDetail[]): OperationError {
  return new OperationError('API.INVALID_BODY', 'The time range cannot be read', details);
}
