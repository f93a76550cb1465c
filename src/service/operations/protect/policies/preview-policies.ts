/**
 * What the requests of a window would have got under other policies. Nothing is written. The log keeps no headers,
 * cookies and queries: where the decision depends on one, the request counts as untold.
 */
import * as z from 'zod/mini';
import { limitsField, originsField, policiesField } from '../../../../contract/management/policy-set/policy-set.ts';
import { instant } from '../../../../contract/management/time.ts';
import { diffPolicySets } from '../../../../policies/diff.ts';
import { protectOperation } from '../../define-operation.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import {
  countRecords,
  examineNewest,
  judgedIn,
  previewReach,
  previewReachOf,
  previewWindow,
  previewedRequest,
  previewedRequestOf,
  type Examined,
  type PreviewWindow,
} from '../verdicts/previewed-requests.ts';
import { logTarget, type LogTarget } from '../verdicts/verdict-log-query.ts';
import {
  policyWhatIf,
  previewedOutcomes,
  proposedSet,
  type PolicyWhatIf,
  type PreviewedOutcome,
  type ProposedSet,
} from './policy-what-if.ts';
import { proposedOver, readPolicySet } from './read-set.ts';
import { SET_BODY_MAX_BYTES, setDifference, setOfVersion } from './stored-set.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { inputsOfRecord } from '../../../../rules/record-inputs.ts';
import type { ServiceStore } from '../../../environment.ts';
import { isWithoutTable } from '../access-rules/what-if.ts';

const previewedOutcome = z.enum(previewedOutcomes);

export const previewPolicies = protectOperation({
  name: 'preview-policies',
  path: '/protect/policies/preview',
  access: 'read',
  summary: 'Try proposed policies on logged requests',
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
    changed: z.int(),
    /** Distinct addresses of the changed requests. */
    changedAddresses: z.int(),
    /** Requests whose decision depends on a header, a cookie or the query, which the log does not keep. */
    untold: z.int(),
    changes: z.array(z.object({ from: previewedOutcome, to: previewedOutcome, requests: z.int(), addresses: z.int() })),
    /** The newest of each change. */
    samples: z.array(
      z.object({
        ...previewedRequest,
        from: previewedOutcome,
        to: previewedOutcome,
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

/** Of each change, so that a frequent one does not hide a rare one. */
const SAMPLES_MAX = 10;

interface Change {
  from: PreviewedOutcome;
  to: PreviewedOutcome;
  requests: number;
  addresses: Set<string | null>;
}

interface PolicyEffect {
  policy: string;
  /** Requests in which it would have fired. */
  requests: number;
  /** Requests of which nobody can tell. */
  unknown: number;
}

interface PolicyTrial extends Examined {
  inWindow: number;
  changes: Change[];
  samples: object[];
  /** Requests whose decision depends on what the log does not keep. */
  untold: number;
  /** Requests of which the log does not have what was decided from. */
  withoutInputs: number;
  effects: PolicyEffect[];
}

/** Applies a policy set to the newest requests of a window, and adds up what would have changed. */
async function tryPolicies(
  store: ServiceStore,
  { log, instance }: LogTarget,
  window: PreviewWindow['filter'],
  proposed: ProposedSet,
): Promise<PolicyTrial> {
  const filter = judgedIn(window);
  const inWindow = await countRecords(store, log, filter);
  const effects = new Map<string, PolicyEffect>();
  const seen = { changes: [] as Change[], samples: [] as object[], untold: 0, withoutInputs: 0 };
  const done = await examineNewest(store, log, filter, (record) => {
    const inputs = inputsOfRecord(record);
    if (inputs === null) {
      if (!isWithoutTable(record)) seen.withoutInputs += 1;
      return;
    }
    const outcome = policyWhatIf(record, proposed, instance, inputs);
    for (const id of outcome.fired) effectOf(effects, id).requests += 1;
    for (const name of outcome.unsure) effectOf(effects, `policy:${name}`).unknown += 1;
    const [after] = outcome.after;
    if (outcome.after.length > 1 || after === undefined) {
      seen.untold += 1;
      return;
    }
    if (after !== outcome.before) noteChange(seen, record, outcome, after);
  });
  const byRequests = [...effects.values()].sort((one, other) => other.requests - one.requests);
  return { ...done, ...seen, inWindow, effects: byRequests };
}

function noteChange(
  { changes, samples }: Pick<PolicyTrial, 'changes' | 'samples'>,
  record: VerdictRecord,
  { before: from, decidedBy }: PolicyWhatIf,
  to: PreviewedOutcome,
): void {
  let change = changes.find((known) => known.from === from && known.to === to);
  if (change === undefined) changes.push((change = { from, to, requests: 0, addresses: new Set() }));
  change.requests += 1;
  change.addresses.add(record.ip);
  if (change.requests > SAMPLES_MAX) return;
  samples.push({ ...previewedRequestOf(record), from, to, decidedBy });
}

function effectOf(effects: Map<string, PolicyEffect>, id: string): PolicyEffect {
  const policy = id.slice('policy:'.length);
  let effect = effects.get(policy);
  if (effect === undefined) effects.set(policy, (effect = { policy, requests: 0, unknown: 0 }));
  return effect;
}
