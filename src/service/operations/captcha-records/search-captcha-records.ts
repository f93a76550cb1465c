/**
 * `POST /audit/searchcaptcharecords`. Pages go back in time from the place where the last one ended, so that records
 * that are written meanwhile neither shift nor repeat a page.
 */
import * as z from 'zod/mini';
import { siteKey } from '../../../contract/management/site.ts';
import { searchCaptchas } from '../../../store/event-log/client/captcha-log.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { ownSiteKeys } from '../sites/own-site.ts';
import { captchaRecordSchema, captchaRecordResponse } from './captcha-record-response.ts';
import { captchaConditions, searchCriteria } from './search-criteria.ts';

const DAY_MS = 24 * 3_600_000;
const DEFAULT_RANGE_MS = 7 * DAY_MS;
/** An older `startDate` is moved forward, not refused. */
const LOOKBACK_MAX_MS = 30 * DAY_MS;
const epochMs = z.int().check(z.gte(0));

export const searchCaptchaRecords = operation({
  name: 'search-captcha-records',
  method: 'POST',
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
        limit: z._default(z.int().check(z.gte(1), z.lte(100)), 20),
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
