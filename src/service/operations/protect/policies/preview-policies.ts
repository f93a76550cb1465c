/**
 * `POST /protect/policies/preview`: what the requests of a window would have got under other policies. Nothing is
 * written. The log keeps no headers, cookies and queries: where the decision depends on one, the request counts as untold.
 */
import * as z from 'zod/mini';
import { limitsField, originsField, policiesField } from '../../../../contract/management/policy-set/policy-api.ts';
import { instant } from '../../../../contract/management/time.ts';
import { diffPolicySets } from '../../../../policies/diff.ts';
import { operation } from '../../define-operation.ts';
import { siteKey } from '../access-rules/instance-rule-book.ts';
import { previewReach, previewReachOf, previewWindow, previewedRequest } from '../verdicts/previewed-request.ts';
import { logTarget } from '../verdicts/verdict-log-query.ts';
import { tryPolicies } from './policy-trial.ts';
import { previewedOutcomes, proposedSet } from './policy-what-if.ts';
import { proposedOver, readPolicySet } from './read-set.ts';
import { SET_BODY_MAX_BYTES, setDifference, setOfVersion } from './stored-set.ts';

const outcome = z.enum(previewedOutcomes);

export const previewPolicies = operation({
  name: 'preview-policies',
  method: 'POST',
  path: '/protect/policies/preview',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Try proposed policies on logged requests',
  maxBodyBytes: SET_BODY_MAX_BYTES,
  body: z.strictObject({
    siteKey,
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
    changed: z.int(),
    /** Distinct addresses of the changed requests. */
    changedAddresses: z.int(),
    /** Requests whose decision depends on a header, a cookie or the query, which the log does not keep. */
    untold: z.int(),
    changes: z.array(z.object({ from: outcome, to: outcome, requests: z.int(), addresses: z.int() })),
    /** The newest of each change. */
    samples: z.array(
      z.object({
        ...previewedRequest,
        from: outcome,
        to: outcome,
        decidedBy: z.string(),
      }),
    ),
    /** Policies that would have fired, or may have, most often first. */
    effects: z.array(z.object({ policy: z.string(), requests: z.int(), unknown: z.int() })),
    /** What the proposal changes. */
    differences: z.object(setDifference),
  }),
  async handler(context) {
    const { body, nowMs } = context;
    const target = await logTarget(context, body.siteKey);
    const { instance } = target;
    const window = previewWindow(body, target, nowMs);
    const current = await setOfVersion(context, instance, instance.policyVersion);
    const proposal = readPolicySet(proposedOver(current, body));
    const tried = await tryPolicies(context.store, target, window.filter, proposedSet(proposal));
    const { changes, examinedSince, ...trial } = tried;
    return {
      ...previewReachOf(window, examinedSince, instance),
      ...trial,
      changed: changes.reduce((sum, { requests }) => sum + requests, 0),
      changedAddresses: new Set(changes.flatMap(({ addresses }) => [...addresses])).size,
      changes: changes.map((change) => ({ ...change, addresses: change.addresses.size })),
      differences: diffPolicySets(current, proposal),
    };
  },
});
