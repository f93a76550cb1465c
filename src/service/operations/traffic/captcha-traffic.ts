/**
 * The captchas of an account's sites, counted. `token` and `accountId` are required and ignored: clients of other
 * services with this API send them.
 */
import * as z from 'zod/mini';
import { dayOrInstant } from '../../../contract/management/time.ts';
import { siteKey } from '../../../contract/management/site.ts';
import { type CaptchaTraffic, countCaptchas, liveCaptchas } from '../../../store/event-log/client/captcha-log.ts';
import { type Operation, operation } from '../define-operation.ts';
import { ownSiteKeys } from '../sites/own-site.ts';
import { type TrafficRange, trafficRange } from './traffic-range.ts';

const MINUTE_MS = 60_000;
const SITE_KEYS_MAX = 10_000;
const ignoredText = z.string().check(z.minLength(1), z.maxLength(4096));

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

const TOP_IPS = 10;

export const trafficOperations: readonly Operation[] = [
  /**
   * The results of the captchas of an account's sites, one row per hour or day of the range, including rows of zeros.
   * `token` and `accountId` are required and ignored: clients of other services with this API send them.
   */
  operation({
    name: 'get-traffic-data',
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
  }),
  /**
   * The current traffic of one site. The list has only points with traffic. On paid plans, the most frequent addresses
   * come with country, network and flags.
   */
  operation({
    name: 'get-live-sessions',
    path: '/getlivesessions',
    feature: 'Traffic',
    permission: 'getTraffic',
    access: 'read',
    summary: 'See the latest sessions of a site',
    body: z.strictObject({
      token: ignoredText,
      accountId: ignoredText,
      siteKey,
      windowMinutes: z._default(z.int().check(z.gte(5), z.lte(360)), 60),
      bucketSeconds: z._default(z.int().check(z.gte(30), z.lte(3600)), 60),
    }),
    response: z.object({
      /** Start of the bucket in epoch milliseconds, and the sessions in it. */
      points: z.array(z.object({ timestamp: z.int(), count: z.int() })),
      windowMinutes: z.int(),
      bucketSeconds: z.int(),
      uniqueIps: z.int(),
      topIps: z.array(
        z.object({
          ip: z.string(),
          count: z.int(),
          country: z.optional(z.nullable(z.string())),
          asn: z.optional(z.nullable(z.int())),
          isVpn: z.optional(z.boolean()),
          isProxy: z.optional(z.boolean()),
          isDatacenter: z.optional(z.boolean()),
        }),
      ),
      /** `false`: there were more sessions than one response counts; the newest were counted. */
      isExact: z.boolean(),
    }),
    async handler(context) {
      const { store, account, body, nowMs } = context;
      await ownSiteKeys(context, [body.siteKey]);
      const { windowMinutes, bucketSeconds } = body;
      const live = await liveCaptchas(store, account.id, body.siteKey, {
        since: nowMs - windowMinutes * MINUTE_MS,
        until: nowMs + 1,
        bucketMs: bucketSeconds * 1000,
        topIps: TOP_IPS,
      });
      const isDescribed = account.tier !== 'free';
      return {
        points: live.points,
        windowMinutes,
        bucketSeconds,
        uniqueIps: live.uniqueIps,
        topIps: live.topIps.map(({ ip, count, country, asn, categories }) => ({
          ip,
          count,
          ...(isDescribed
            ? {
                country,
                asn,
                isVpn: categories.includes('vpn'),
                isProxy: categories.includes('proxy'),
                isDatacenter: categories.includes('datacenter'),
              }
            : {}),
        })),
        isExact: live.isExact,
      };
    },
  }),
];

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
