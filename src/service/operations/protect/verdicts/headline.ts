/**
 * Why a request was decided as it was, for a person: one to three sentences in the words of the console's forms. The
 * log's own sentence (`rules/explain.ts`) names every input and is for people who know the decision table. Pure.
 */
import { riskDetectors } from '../../../../contract/edge/risk-detectors.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { BotProof, Decision, EdgeRuleType, VerdictSource } from '../../../../contract/vocabulary.ts';
import { detectors } from '../../../../risk/detectors.ts';
import { decide, type DecideInputs, type DecideOutcome } from '../../../../rules/decision-table.ts';
import { inputsOfRecord } from '../../../../rules/record-inputs.ts';
import { outcomeOfRecord } from '../replay/previewed-requests.ts';

const NAME_MAX_CHARS = 100;
/** The strongest parts of a risk score; the page lists all. */
const PARTS_NAMED_MAX = 3;

const verbs: Record<Decision, string> = { allow: 'Allowed', challenge: 'Challenged', block: 'Blocked' };

const ruleSubjects: Record<EdgeRuleType, string> = {
  ip: 'the address',
  ipMask: 'the network',
  asn: 'the AS number',
  countryCode: 'the country',
  ja4Hash: 'the TLS fingerprint',
  userAgent: 'user agents with',
};

const proofs: Record<BotProof, string> = {
  range: 'whose address is one of its operator’s',
  dns: 'whose host name is its operator’s',
  signature: 'which signed the request',
  claimed: 'whose name is only claimed so far',
  impostor: 'and provably is not it',
};

/** What let a challenged request pass, or took the table's place. */
const laterSteps: Partial<Record<VerdictSource, string>> = {
  clearance: 'Allowed: the visitor has solved a challenge before, and that clearance lifted this one.',
  verified: 'Allowed: the form brought a solved challenge with it.',
  exempt: 'Allowed: this path is never challenged.',
  preflight: 'Allowed: a browser asks before a request from another site, and cannot solve a challenge for that.',
  'no-session': 'Challenged, because this path is for pages that have a session, and the request had none.',
  internal: 'Allowed: it is one of the gate’s own addresses.',
};

export function headline(record: VerdictRecord): string {
  const { decision, source } = record;
  const later = laterSteps[source];
  const inputs = inputsOfRecord(record);
  const isLifted = decision === 'allow' && inputs !== null && decide(inputs).decision !== 'allow';
  if (later !== undefined && (source === 'no-session' || decision === 'allow')) {
    return isLifted ? `${later} Without it: ${lowered(because(decide(inputs), inputs, record))}` : later;
  }
  if (source === 'error')
    return record.explain ?? `${verbs[decision]} by the failure policy, because something failed.`;
  if (inputs === null) return record.explain ?? `${verbs[decision]}.`;
  const outcome = decide(inputs);
  return `${because(outcome, inputs, record)}${tailOf(outcome.decision)}`;
}

function tailOf(decision: Decision): string {
  if (decision === 'challenge') return ' A solved challenge lets the visitor through.';
  return decision === 'block' ? ' No challenge lifts it.' : '';
}

function lowered(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
}

function because({ decision, input }: DecideOutcome, inputs: DecideInputs, record: VerdictRecord): string {
  const verb = verbs[decision];
  if (input === 'default') return 'Allowed, because nothing speaks against it.';
  if (input === 'policy') return policySentence(decision, inputs.policy!.reason, record);
  return `${verb}, because ${reasons[input](inputs, record)}.`;
}

const reasons: Record<
  Exclude<DecideOutcome['input'], 'default' | 'policy'>,
  (inputs: DecideInputs, record: Pick<VerdictRecord, 'fired_rules'>) => string
> = {
  network: ({ network }) => ruleReason(network!.id),
  client: ({ client }) => ruleReason(client!.id),
  bot: ({ bot }) => `of what the bot policy says of ${shown(bot!.id)}, ${proofs[bot!.proof]}`,
  category: ({ category }) => `the instance has an answer for addresses of the category “${category!.category}”`,
  risk: ({ risk }, record) => riskReason(risk!.score, record),
  limit: ({ limit }) => `it is above the limit “${shown(limit!.name)}”`,
};

function ruleReason(id: string): string {
  const colon = id.indexOf(':');
  const [type, value] = [id.slice(0, colon), shown(id.slice(colon + 1))];
  if (type === 'list') return `the list “${value}” has the visitor’s address or network`;
  const subject = ruleSubjects[type as EdgeRuleType];
  return subject === undefined ? `of the rule ${shown(id)}` : `an access rule is for ${subject} ${value}`;
}

function riskReason(score: number, { fired_rules: fired }: Pick<VerdictRecord, 'fired_rules'>): string {
  const parts = riskDetectors
    .filter((name) => fired.some(({ id }) => id === `risk:${name}`))
    .toSorted((one, other) => (detectors[other].weights.session ?? 0) - (detectors[one].weights.session ?? 0))
    .slice(0, PARTS_NAMED_MAX)
    .map((name) => lowered(detectors[name].compares).replace(/\.$/, ''));
  const score100 = Math.round(score * 100);
  return `its risk is ${score100} of 100${parts.length === 0 ? '' : `: ${parts.join('; ')}`}`;
}

function policySentence(decision: Decision, reason: string, record: VerdictRecord): string {
  const verb = outcomeOfRecord(record) === 'redirect' ? 'Redirected' : verbs[decision];
  if (reason === 'onPending' && decision === 'allow') {
    return 'Allowed: a page without a session, whose script opens one.';
  }
  if (reason === 'onPending') return `${verb}, because pages ask for a session here, and the visitor had none.`;
  if (reason === 'noSession')
    return `${verb}, because only visitors with a session send forms here (${record.session_status}).`;
  if (reason === 'pendingBudget') {
    return `${verb}, because its network has asked for many pages without opening a session, and its budget for these is used up.`;
  }
  if (reason.startsWith('path:')) return `${verb} by the path rule ${shown(reason.slice('path:'.length))}.`;
  return `${verb} by the policy “${shown(reason)}”.`;
}

/** A visitor's or an operator's text can be long. */
function shown(text: string): string {
  if (text.length <= NAME_MAX_CHARS) return text;
  return `${text.slice(0, NAME_MAX_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
