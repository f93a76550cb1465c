/**
 * `POST /gettrafficdata`: the results of the captchas of an account's sites, one row per hour or day of the range,
 * including rows of zeros. `token` and `accountId` are required and ignored: clients of other services with this API send
 * them.
 */
import * as z from 'zod/mini';
import { dayOrInstant } from '../../../contract/management/time.ts';
import { siteKey } from '../../../contract/management/site.ts';
import { type CaptchaTraffic, countCaptchas } from '../../../store/event-log/client/captcha-log.ts';
import { operation } from '../define-operation.ts';
import { ownSiteKeys } from '../sites/own-site.ts';
import { trafficRange, type TrafficRange } from './traffic-range.ts';

const MINUTE_MS = 60_000;
const SITE_KEYS_MAX = 10_000;
export const ignoredText = z.string().check(z.minLength(1), z.maxLength(4096));

const counts = z.object({
  /** Captchas issued. */
  total: z.int(),
  /** Of them, those with a solution: approved or disapproved. */
  submissions: z.int(),
  /** Of them, those that the backend of a site verified. */
  verifications: z.int(),
  approved: z.int(),
  disapproved: z.int(),
  pending: z.int(),
});
const trafficRow = z.object({
  /** Start of the period in epoch milliseconds. */
  timestamp: z.int(),
  date: z.string(),
  granularity: z.enum(['hour', 'day']),
  ...counts.shape,
  /** Requests that were blocked before a captcha was chosen. They are not in the other counts. */
  blocked: z.int(),
  pow: counts,
  image: counts,
  puzzle: counts,
});
type Counts = z.infer<typeof counts>;
type TrafficRow = z.infer<typeof trafficRow>;

export const getTrafficData = operation({
  name: 'get-traffic-data',
  method: 'POST',
  path: '/gettrafficdata',
  feature: 'Traffic',
  permission: 'getTraffic',
  access: 'read',
  summary: 'Count captchas per hour or day',
  body: z.strictObject({
    token: ignoredText,
    accountId: ignoredText,
    siteKeys: z.optional(z.array(siteKey).check(z.minLength(1), z.maxLength(SITE_KEYS_MAX))),
    startDate: z.optional(dayOrInstant),
    endDate: z.optional(dayOrInstant),
    month: z.optional(z.int().check(z.gte(1), z.lte(12))),
    year: z.optional(z.int().check(z.gte(1970), z.lte(9999))),
  }),
  response: z.array(trafficRow),
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const range = trafficRange(body, nowMs);
    // The log belongs to the account, so without keys it has the captchas of all its sites.
    const siteKeys = body.siteKeys ? await ownSiteKeys(context, body.siteKeys) : null;
    const bucketMinutes = range.bucketMs / MINUTE_MS;
    const traffic = await countCaptchas(store, account.id, siteKeys, { ...range, bucketMinutes });
    return rowsOf(traffic, range);
  },
});

function rowsOf(traffic: readonly CaptchaTraffic[], range: TrafficRange): TrafficRow[] {
  const rows = new Map<number, TrafficRow>();
  for (let at = floorTo(range.since, range.bucketMs); at < range.until; at += range.bucketMs) {
    rows.set(at, emptyRow(at, range.granularity));
  }
  for (const one of traffic) {
    const row = rows.get(floorTo(one.timestamp, range.bucketMs));
    if (!row) continue;
    if (one.type === 'blocked') {
      row.blocked += one.approved + one.pending + one.disapproved;
      continue;
    }
    add(row, one);
    add(row[one.type], one);
  }
  return [...rows.values()];
}

function add(to: Counts, from: CaptchaTraffic): void {
  to.total += from.approved + from.pending + from.disapproved;
  to.submissions += from.approved + from.disapproved;
  to.verifications += from.verified;
  to.approved += from.approved;
  to.disapproved += from.disapproved;
  to.pending += from.pending;
}

function emptyRow(timestamp: number, granularity: TrafficRange['granularity']): TrafficRow {
  const date = new Date(timestamp).toISOString();
  return { timestamp, date, granularity, ...zeros(), blocked: 0, pow: zeros(), image: zeros(), puzzle: zeros() };
}

function zeros(): Counts {
  return { total: 0, submissions: 0, verifications: 0, approved: 0, disapproved: 0, pending: 0 };
}

function floorTo(timestamp: number, stepMs: number): number {
  return Math.floor(timestamp / stepMs) * stepMs;
}
