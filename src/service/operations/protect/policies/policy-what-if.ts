/**
 * One logged request under another policy set. The record has what every other input of the decision table said, so only
 * the policy is exchanged. Where a policy depends on what the log does not keep, each answer is tried: if all lead to one
 * decision, that is it, and else it cannot be told. Pure.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { PolicySet } from '../../../../contract/management/policy-set/policy-set.ts';
import type { PolicyAction } from '../../../../contract/management/policy-set/policy.ts';
import { type CompiledPolicies, compilePolicies } from '../../../../policies/compile/compile-policies.ts';
import { type DecideInputs, liftedInputs } from '../../../../rules/decision-table.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { afterTable } from '../access-rules/what-if.ts';
import { loggedRequest } from './policy-requests.ts';

export const previewedOutcomes = ['allow', 'challenge', 'block', 'redirect'] as const;
export type PreviewedOutcome = (typeof previewedOutcomes)[number];

/** A page with one of these gets nothing for its session. */
const withSession: readonly VerdictRecord['session_status'][] = ['active', 'waived', 'off'];

export interface ProposedSet {
  compiled: CompiledPolicies;
  actions: ReadonlyMap<string, PolicyAction>;
}

export interface PolicyWhatIf {
  before: PreviewedOutcome;
  /** Every outcome that is possible; one where it can be told. */
  after: PreviewedOutcome[];
  /** What decides where no unsure policy applies. */
  decidedBy: string;
  /** Ids of policies that fire, enforced and monitored. */
  fired: readonly string[];
  /** Names of enforced policies that may apply: it depends on what the log does not keep. */
  unsure: readonly string[];
  /** Names of the limits that policies ask which surely apply. */
  limits: readonly string[];
}

export function proposedSet({ policies, limits }: PolicySet): ProposedSet {
  return {
    compiled: compilePolicies(policies, new Set(limits.map(({ name }) => name))),
    actions: new Map(policies.map(({ name, then }) => [name, then])),
  };
}

/** `inputs`: what the table decided from, or with a part of it changed. */
export function policyWhatIf(
  record: VerdictRecord,
  { compiled, actions }: ProposedSet,
  instance: Pick<StoredInstance, 'pathRules'>,
  inputs: DecideInputs,
): PolicyWhatIf {
  const { outcome, unsure } = compiled.preview(loggedRequest(record));
  const former = formerPolicy(record, inputs);
  const before = former?.isRedirect === true ? 'redirect' : afterTable(inputs, record).decision;
  /** What speaks where no policy of the set does: path rules and the like. */
  const rest = former === null ? inputs.policy : null;
  const end = outcome.verdict ?? outcome.redirect;
  const first = outcomeOf(record, inputs, endOf(outcome.verdict?.name ?? outcome.redirect?.name, actions), rest);
  const others = unsure.map((name) => outcomeOf(record, inputs, endOf(name, actions), rest).result);
  const after = [first.result, ...others];
  // Behind the former policy, nobody has asked what a path rule says, or what a page without a session gets.
  const isRestUnknown = instance.pathRules.length > 0 || !withSession.includes(record.session_status);
  if (end === null && former !== null && isRestUnknown) after.push('challenge', 'block');
  return {
    before,
    after: [...new Set(after)],
    decidedBy: first.decidedBy,
    fired: outcome.fired.map(({ id }) => id),
    unsure,
    limits: outcome.limits,
  };
}

const goesOn: readonly PolicyAction['action'][] = ['skipSession', 'limit', 'origin'];

interface End {
  name: string;
  action: PolicyAction;
}

/** `null`: the search goes on behind it. */
function endOf(name: string | undefined, actions: ReadonlyMap<string, PolicyAction>): End | null {
  const action = name === undefined ? undefined : actions.get(name);
  if (name === undefined || action === undefined || goesOn.includes(action.action)) return null;
  return { name, action };
}

function outcomeOf(
  record: VerdictRecord,
  inputs: DecideInputs,
  end: End | null,
  rest: DecideInputs['policy'],
): { result: PreviewedOutcome; decidedBy: string } {
  const kind = end?.action.action;
  const verdict = kind === 'allow' || kind === 'challenge' || kind === 'block' ? kind : null;
  // A redirect stands in the table as an allow, which lifts nothing.
  const said = kind === 'redirect' ? 'allow' : verdict;
  const table = { ...inputs, policy: end === null || said === null ? rest : { verdict: said, reason: end.name } };
  const { decision, decidedBy } = afterTable(table, record);
  const isRedirect = kind === 'redirect' && decision === 'allow' && !liftedInputs(table).includes('policy');
  return isRedirect ? { result: 'redirect', decidedBy: `policy:${end?.name}` } : { result: decision, decidedBy };
}

/** The policy of a set that spoke when the request came; `null`: none did. */
function formerPolicy(record: VerdictRecord, { policy }: DecideInputs): { isRedirect: boolean } | null {
  const enforced = record.fired_rules.filter(({ id, mode }) => mode === 'enforce' && id.startsWith('policy:'));
  const isFormer = enforced.some(({ id }) => id === record.decided_by || id === `policy:${policy?.reason}`);
  if (!isFormer) return null;
  return { isRedirect: record.decision === 'allow' && record.status >= 300 && record.status < 400 };
}
