/**
 * `POST /protect/limits/preview`: who would have been above limits, by the requests of a window. Nothing is written and
 * nothing is counted. The log keeps no headers, cookies and user names: what depends on one counts as untold.
 */
import * as z from 'zod/mini';
import { limitsField, originsField, policiesField } from '../../../../contract/management/policy-set/policy-set.ts';
import { policyMode } from '../../../../contract/management/policy-set/policy.ts';
import { verdictSources } from '../../../../contract/vocabulary.ts';
import { instant } from '../../../../contract/management/time.ts';
import { protectOperation } from '../../define-operation.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import { isoTime } from '../access-rules/rule-response.ts';
import { proposedOver, readPolicySet } from '../policies/read-set.ts';
import { SET_BODY_MAX_BYTES, setOfVersion } from '../policies/stored-set.ts';
import { previewReach, previewReachOf, previewWindow } from '../replay/previewed-requests.ts';
import { logTarget } from '../verdicts/verdict-log-query.ts';
import { tryLimits } from './limit-trial.ts';

export const previewLimits = protectOperation({
  name: 'preview-limits',
  path: '/protect/limits/preview',
  access: 'read',
  summary: 'Say who would have been above limits',
  maxBodyBytes: SET_BODY_MAX_BYTES,
  body: z.strictObject({
    siteKey: chosenSiteKey,
    /** The policies as they would be. Absent: as they are. */
    policies: policiesField,
    limits: limitsField,
    origins: originsField,
    /** ISO 8601 or epoch milliseconds; the default is a day ago. */
    since: z.optional(instant),
    until: z.optional(instant),
  }),
  response: z.object({
    ...previewReach,
    /** Requests above at least one enforced limit. */
    refused: z.int(),
    /** Every limit, the one with the most requests above it first. */
    effects: z.array(
      z.object({
        limit: z.string(),
        mode: policyMode,
        /** Requests that policies send to it, or may. */
        requests: z.int(),
        /** Of these: a policy depends on what the log does not keep. */
        unsure: z.int(),
        /** Requests that policies send to it and that never reach it, by what stops them before, most often first. */
        stopped: z.array(z.object({ by: z.enum(verdictSources), requests: z.int() })),
        above: z.int(),
        untold: z.int(),
        /** Distinct keys and addresses of the requests above it. */
        keys: z.int(),
        addresses: z.int(),
        visitors: z.array(
          z.object({
            ip: z.nullable(z.string()),
            asn: z.nullable(z.int()),
            country: z.nullable(z.string()),
            above: z.int(),
            untold: z.int(),
            requestId: z.string(),
            timestamp: z.string(),
          }),
        ),
        /** Of the limit's key and event. */
        unlogged: z.array(z.string()),
      }),
    ),
  }),
  async handler(context) {
    const { body, nowMs } = context;
    const target = await logTarget(context, body.siteKey);
    const { instance } = target;
    const window = previewWindow(body, target, nowMs);
    const current = await setOfVersion(context, instance, instance.policyVersion);
    const proposal = readPolicySet(proposedOver(current, body));
    const { examinedSince, effects, ...trial } = await tryLimits(context.store, target, window.filter, proposal, nowMs);
    return {
      ...previewReachOf(window, examinedSince, instance),
      ...trial,
      effects: effects.map(({ visitors, ...effect }) => ({
        ...effect,
        visitors: visitors.map(({ atMs, ...visitor }) => ({ ...visitor, timestamp: isoTime(atMs) })),
      })),
    };
  },
});
