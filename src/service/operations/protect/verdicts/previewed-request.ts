/** What previews of rules and of policies have in common: their window, and logged requests as examples. */
import * as z from 'zod/mini';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { OperationError } from '../../operation-error.ts';
import { isoTime } from '../access-rules/rule-response.ts';
import type { LogTarget } from './verdict-log-query.ts';

const DAY_MS = 86_400_000;

export const previewedRequest = {
  requestId: z.string(),
  timestamp: z.string(),
  ip: z.nullable(z.string()),
  asn: z.nullable(z.int()),
  country: z.nullable(z.string()),
  userAgent: z.string(),
  requestPath: z.string(),
};
type PreviewedRequest = { [Field in keyof typeof previewedRequest]: z.infer<(typeof previewedRequest)[Field]> };

export function previewedRequestOf(record: VerdictRecord): PreviewedRequest {
  return {
    requestId: record.request_id,
    timestamp: isoTime(record.timestamp),
    ip: record.ip,
    asn: record.asn,
    country: record.country,
    userAgent: record.user_agent,
    requestPath: record.request_path,
  };
}

export interface PreviewWindow {
  since: number;
  until: number;
  /** An edge's clock may be ahead: without an end, its newest requests count as well. */
  filter: { since: number; until?: number };
}

/** A day, unless the request says otherwise. @throws OperationError where nothing can be in it. */
export function previewWindow(
  given: { since?: number | undefined; until?: number | undefined },
  { horizon }: Pick<LogTarget, 'horizon'>,
  nowMs: number,
): PreviewWindow {
  const since = Math.max(given.since ?? nowMs - DAY_MS, horizon);
  const until = given.until ?? nowMs;
  if (since > until) {
    throw new OperationError('API.INVALID_BODY', 'The window is empty', [
      { path: 'since', message: since > nowMs ? 'is in the future' : 'is after until, or older than the log' },
    ]);
  }
  return { since, until, filter: { since, ...(given.until === undefined ? {} : { until }) } };
}
