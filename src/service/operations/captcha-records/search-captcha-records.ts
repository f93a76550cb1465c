/**
 * Pages go back in time from the place where the last one ended, so that records that are written meanwhile neither
 * shift nor repeat a page. Records are returned in camel case, with times in epoch milliseconds.
 */
import * as z from 'zod/mini';
import { pageLimit } from '../pages.ts';
import { type CaptchaRecord, captchaRecordTypes, captchaStatuses } from '../../../store/event-log/captcha-record.ts';
import { siteKey } from '../../../contract/management/site.ts';
import { searchCaptchas } from '../../../store/event-log/client/captcha-log.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { ownSiteKeys } from '../sites/own-site.ts';
import { captchaConditions, searchCriteria } from './search-criteria.ts';

const captchaRecordSchema = z.object({
  id: z.string(),
  jti: z.string(),
  timestamp: z.int(),
  siteKey: z.string(),
  captchaType: z.enum(captchaRecordTypes),
  status: z.enum(captchaStatuses),
  resultReason: z.nullable(z.string()),
  ip: z.nullable(z.string()),
  countryCode: z.nullable(z.string()),
  asn: z.nullable(z.int()),
  ipCategories: z.array(z.string()),
  vpn: z.boolean(),
  ja4: z.nullable(z.string()),
  userAgent: z.string(),
  deviceType: z.string(),
  host: z.nullable(z.string()),
  action: z.nullable(z.string()),
  lane: z.nullable(z.string()),
  userAccount: z.nullable(z.string()),
  sessionId: z.nullable(z.string()),
  webView: z.nullable(z.boolean()),
  iFrame: z.nullable(z.boolean()),
  score: z.nullable(z.number()),
  threshold: z.nullable(z.number()),
  triggeredDetectors: z.array(z.string()),
  selectionReason: z.nullable(z.string()),
  accessRule: z.nullable(z.string()),
  policyType: z.nullable(z.enum(['block', 'restrict'])),
  submittedAt: z.nullable(z.int()),
  verifiedAt: z.nullable(z.int()),
  verified: z.nullable(z.boolean()),
});
type CaptchaRecordResponse = z.infer<typeof captchaRecordSchema>;

function captchaRecordResponse(record: CaptchaRecord): CaptchaRecordResponse {
  return {
    id: record.id,
    jti: record.jti,
    timestamp: record.timestamp,
    siteKey: record.site_key,
    captchaType: record.captcha_type,
    status: record.status,
    resultReason: record.result_reason,
    ip: record.ip,
    countryCode: record.country,
    asn: record.asn,
    ipCategories: [...record.ip_category],
    vpn: record.ip_category.includes('vpn'),
    ja4: record.ja4,
    userAgent: record.user_agent,
    deviceType: record.device_type,
    host: record.host,
    action: record.action,
    lane: record.lane,
    userAccount: record.user_account,
    sessionId: record.session,
    webView: record.web_view,
    iFrame: record.iframe,
    score: record.score,
    threshold: record.threshold,
    triggeredDetectors: [...record.detectors],
    selectionReason: record.selection_reason,
    accessRule: record.access_rule,
    policyType: record.policy_type,
    submittedAt: record.submitted_at,
    verifiedAt: record.verified_at,
    verified: record.verified,
  };
}

const DAY_MS = 24 * 3_600_000;
const DEFAULT_RANGE_MS = 7 * DAY_MS;
/** An older `startDate` is moved forward, not refused. */
const LOOKBACK_MAX_MS = 30 * DAY_MS;
const epochMs = z.int().check(z.gte(0));

export const searchCaptchaRecords = operation({
  name: 'search-captcha-records',
  path: '/audit/searchcaptcharecords',
  feature: 'SearchCaptchaRecords',
  permission: 'searchCaptchaRecords',
  access: 'read',
  summary: 'Search captcha records',
  body: z.strictObject({
    siteKey: z.optional(siteKey),
    captchaType: z._default(z.enum(['pow', 'image', 'puzzle', 'all', 'blocked']), 'all'),
    searchCriteria: z._default(searchCriteria, {}),
    startDate: z.optional(epochMs),
    endDate: z.optional(epochMs),
    pagination: z._default(
      z.strictObject({
        limit: pageLimit(100, 20),
        lastId: z.optional(z.string().check(z.regex(/^[0-9a-f-]{36}$/, 'is not the id of a record'))),
        lastTimestamp: z.optional(epochMs),
      }),
      { limit: 20 },
    ),
  }),
  response: z.object({
    records: z.array(captchaRecordSchema),
    total: z.int(),
    /** `false`: the actual total is higher. */
    totalIsExact: z.optional(z.boolean()),
    limit: z.int(),
    hasMore: z.boolean(),
    lastId: z.optional(z.string()),
    lastTimestamp: z.optional(z.int()),
  }),
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const { limit, lastId, lastTimestamp } = body.pagination;
    if ((lastId === undefined) !== (lastTimestamp === undefined)) {
      throw new OperationError('API.INVALID_BODY', 'The pagination is not complete', [
        { path: 'pagination', message: 'needs both lastId and lastTimestamp, or neither' },
      ]);
    }
    const end = body.endDate ?? nowMs;
    const start = body.startDate ?? end - DEFAULT_RANGE_MS;
    if (start > end) {
      throw new OperationError('API.INVALID_BODY', 'The time range cannot be read', [
        { path: 'startDate', message: 'must not be after endDate' },
      ]);
    }
    if (body.siteKey !== undefined) await ownSiteKeys(context, [body.siteKey]);
    const page = await searchCaptchas(
      store,
      account.id,
      {
        since: Math.max(start, nowMs - LOOKBACK_MAX_MS),
        until: end + 1,
        siteKey: body.siteKey ?? null,
        type: body.captchaType === 'all' ? null : body.captchaType,
        conditions: captchaConditions(body.searchCriteria),
      },
      lastId !== undefined && lastTimestamp !== undefined ? { id: lastId, timestamp: lastTimestamp } : null,
      limit,
    );
    const last = page.next ?? page.records.at(-1);
    return {
      records: page.records.map(captchaRecordResponse),
      total: page.total,
      totalIsExact: page.totalIsExact,
      limit,
      hasMore: page.next !== null,
      ...(last ? { lastId: last.id, lastTimestamp: last.timestamp } : {}),
    };
  },
});
