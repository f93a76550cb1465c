/**
 * `POST /protect/access-rules/hits`: how often one rule fired, bucket by bucket, from the counts of the verdict log. The
 * rule may be deleted by now: its hits stay as long as the log.
 */
import * as z from 'zod/mini';
import { edgeRuleCondition } from '../../../../contract/management/edge-rule.ts';
import { instant } from '../../../../contract/management/time.ts';
import { accessRuleHitsResponse, bucketSeconds } from '../../../../contract/management/verdict-query.ts';
import { canonicalValue } from '../../../../rules/canonical.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import { countSeries } from '../../../../store/event-log/client/verdict-log.ts';
import { protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { outcomeCounts, pointCounts, seriesPoint, sumCounts } from '../verdicts/outcome-counts.ts';
import { logTarget, seriesWindow } from '../verdicts/verdict-log-query.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import { hitsOfRules, ruleId } from './rule-response.ts';

export const getAccessRuleHits = protectOperation({
  name: 'get-access-rule-hits',
  path: '/protect/access-rules/hits',
  access: 'read',
  summary: 'Time series of the requests in which one edge access rule fired',
  body: z.strictObject({
    siteKey: chosenSiteKey,
    ...edgeRuleCondition.shape,
    /** Default: 24 hours ago. Rounded down to the start of its bucket. */
    since: z.optional(instant),
    /** Default: now. Rounded up to the end of its bucket. */
    until: z.optional(instant),
    bucket: z._default(bucketSeconds, 3600),
  }),
  response: accessRuleHitsResponse,
  async handler(context) {
    const { store, body, nowMs } = context;
    const key = canonicalKey(body);
    const target = await logTarget(context, body.siteKey);
    const { since, until, from, to, bucketMinutes } = seriesWindow(body, target.horizon, nowMs);
    // No rule decides what becomes of the gate's own calls.
    const window = { from, to, outcomes: null, excludeInternal: true };
    const rule = ruleId(key);
    const [{ series }, { hits, areExact }] = await Promise.all([
      countSeries(store, target.log, 'fired_rule', [rule], window, bucketMinutes),
      hitsOfRules(store, target, [key], window),
    ]);
    const points = series[0] ?? [];
    return {
      rule,
      since,
      until,
      bucketSeconds: body.bucket,
      ...outcomeCounts(sumCounts(points.map(pointCounts))),
      lastHitAt: hits[0]?.lastHitAt ?? null,
      buckets: points.map(seriesPoint),
      isExact: areExact,
    };
  },
});

function canonicalKey({ type, value }: z.infer<typeof edgeRuleCondition>): RuleKey {
  const canonical = canonicalValue(type, value);
  if (canonical.ok) return { type, value: canonical.value };
  throw new OperationError('API.INVALID_BODY', 'The value cannot be one of a rule', [
    { path: 'value', message: canonical.error },
  ]);
}
