/**
 * What the requests of a window would have got under other policies. Nothing is written. The log keeps no headers,
 * cookies and queries: where the decision depends on one, the request counts as untold.
 */
import * as z from 'zod/mini';
import {
  limitsField,
  originsField,
  policiesField,
  type PolicySet,
} from '../../../../contract/management/policy-set/policy-set.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { instant } from '../../../../contract/management/time.ts';
import { diffPolicySets, type SetDifference } from '../../../../policies/diff.ts';
import { protectOperation } from '../../define-operation.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import { currentGate } from '../replay/current-gate.ts';
import { isUntouchable, policyParts, replay, replayedOutcomes } from '../replay/gate-replay.ts';
import { changeSchemas, compared, ChangeSums } from '../replay/previewed-changes.ts';
import {
  countRecords,
  examineNewest,
  judgedIn,
  previewReach,
  previewReachOf,
  previewWindow,
  type Examined,
  type PreviewWindow,
} from '../replay/previewed-requests.ts';
import { logTarget, type LogTarget } from '../verdicts/verdict-log-query.ts';
import { proposedOver, readPolicySet } from './read-set.ts';
import { SET_BODY_MAX_BYTES, setDifference, setOfVersion } from './stored-set.ts';
import type { ServiceStore } from '../../../environment.ts';

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
    ...changeSchemas(replayedOutcomes).fields,
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
    const differences = diffPolicySets(current, proposal);
    const trial = await tryPolicies(context.store, target, window.filter, proposal, differences, nowMs);
    const { changes, examinedSince, ...reach } = trial;
    return {
      ...previewReachOf(window, examinedSince, instance),
      ...reach,
      ...changes.sums(),
      differences,
    };
  },
});

interface PolicyEffect {
  policy: string;
  /** Requests in which it would have fired. */
  requests: number;
  /** Requests of which nobody can tell. */
  unknown: number;
}

interface PolicyTrial extends Examined {
  inWindow: number;
  changes: ChangeSums;
  /** Requests of which the log does not have what was decided from. */
  withoutInputs: number;
  effects: PolicyEffect[];
}

/** Sends the newest requests of a window through the gate of now and through the gate with another policy set. */
async function tryPolicies(
  store: ServiceStore,
  { log, instance }: LogTarget,
  window: PreviewWindow['filter'],
  proposal: PolicySet,
  differences: SetDifference,
  nowMs: number,
): Promise<PolicyTrial> {
  const filter = judgedIn(window);
  const inWindow = await countRecords(store, log, filter);
  const gate = await currentGate(store, instance, nowMs);
  const proposed = { ...gate, ...policyParts(proposal) };
  const changedNames = new Set(differences.policies.map(({ name }) => name));
  const effects = new Map<string, PolicyEffect>();
  const changes = new ChangeSums();
  let withoutInputs = 0;
  const examine = (record: VerdictRecord): void => {
    if (isUntouchable(record, gate)) return;
    if (record.inputs === undefined) {
      withoutInputs += 1;
      return;
    }
    const [before, after] = [replay(record, gate), replay(record, proposed)];
    for (const id of after.fired) effectOf(effects, id).requests += 1;
    for (const name of after.unsure) effectOf(effects, `policy:${name}`).unknown += 1;
    changes.tried(before, after);
    changes.note(
      record,
      compared(before, after, (name) => !changedNames.has(name)),
    );
  };
  const done = await examineNewest(store, log, filter, examine, () => changes.isFull);
  const byRequests = [...effects.values()].sort((one, other) => other.requests - one.requests);
  return { ...done, inWindow, changes, withoutInputs, effects: byRequests };
}

function effectOf(effects: Map<string, PolicyEffect>, id: string): PolicyEffect {
  const policy = id.slice('policy:'.length);
  let effect = effects.get(policy);
  if (effect === undefined) effects.set(policy, (effect = { policy, requests: 0, unknown: 0 }));
  return effect;
}
