/**
 * `POST /getlivesessions`: the current traffic of one site. The list has only points with traffic. On paid plans, the
 * most frequent addresses come with country, network and flags.
 */
import * as z from 'zod/mini';
import { siteKey } from '../../../contract/management/site.ts';
import { liveCaptchas } from '../../../store/event-log/client/captcha-log.ts';
import { operation } from '../define-operation.ts';
import { ignoredText } from './get-traffic-data.ts';
import { ownSiteKeys } from '../sites/own-site.ts';

const MINUTE_MS = 60_000;
const TOP_IPS = 10;

export const getLiveSessions = operation({
  name: 'get-live-sessions',
  method: 'POST',
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
});
