/** Applies a policy set to the newest requests of a window, and adds up what would have changed. */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { inputsOfRecord } from '../../../../rules/record-inputs.ts';
import type { ServiceStore } from '../../../environment.ts';
import { isWithoutTable } from '../access-rules/recorded-inputs.ts';
import { countRecords, type Examined, examineNewest } from '../verdicts/newest-records.ts';
import { judgedIn, previewedRequestOf, type PreviewWindow } from '../verdicts/previewed-request.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { type PolicyWhatIf, policyWhatIf, type PreviewedOutcome, type ProposedSet } from './policy-what-if.ts';

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

export interface PolicyTrial extends Examined {
  inWindow: number;
  changes: Change[];
  samples: object[];
  /** Requests whose decision depends on what the log does not keep. */
  untold: number;
  /** Requests of which the log does not have what was decided from. */
  withoutInputs: number;
  effects: PolicyEffect[];
}

export async function tryPolicies(
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
