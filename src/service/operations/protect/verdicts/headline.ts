/**
 * Why a request was decided as it was, for a person: one to three sentences in the words of the console's forms, and for
 * a line of a list the reason alone, which is a part of the first sentence. The log's own sentence (`rules/explain.ts`) names every input and is for people who know the decision table. Pure.
 */
import { riskDetectors } from '../../../../contract/edge/risk-detectors.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { BotProof, Decision, EdgeRuleType, VerdictSource } from '../../../../contract/vocabulary.ts';
import { SESSION_PACE } from '../../../../decide/pace-limit.ts';
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
  suspected: 'because a program seems to operate the browser',
};

/** The sentence is `lead`, `reason` and `detail`. */
interface Why {
  lead: string;
  /** Without the decision: `the path rule /admin/*`. */
  reason: string;
  detail?: string;
}

const sentenceOf = ({ lead, reason, detail = '' }: Why): string => `${lead}${reason}${detail}.`;

/** What let a challenged request pass, or took the table's place. */
const laterSteps: Partial<Record<VerdictSource, string>> = {
  clearance: 'the visitor has solved a challenge before, and that clearance lifted this one',
  verified: 'the form brought a solved challenge with it',
  exempt: 'this path is never challenged',
  preflight: 'a browser asks before a request from another site, and cannot solve a challenge for that',
  'no-session': 'this path is for pages that have a session, and the request had none',
  internal: 'it is one of the gate’s own addresses',
};

const CLEARED_FOR_SESSION = 'the visitor has solved a challenge before, and that clearance stands for a session here';

export function headline(record: VerdictRecord): string {
  const why = whyOf(record);
  if (why === null) return record.explain ?? `${verbs[record.decision]}.`;
  const { outcome, later } = why;
  if (later !== null) {
    const isLifted = record.decision === 'allow' && outcome !== null && outcome.decision !== 'allow';
    return isLifted ? `${sentenceOf(later)} Without it: ${lowered(sentenceOf(outcome.why))}` : sentenceOf(later);
  }
  return `${sentenceOf(outcome!.why)}${tailOf(outcome!.decision)}`;
}

/** For a line beside the decision: `An access rule is for the network 192.0.2.0/24`. */
export function reasonOf(record: VerdictRecord): string {
  const why = whyOf(record);
  const reason = why === null ? record.explain : (why.later ?? why.outcome?.why)?.reason;
  return reason === undefined ? '' : raised(reason);
}

/** A rule that fired, by the id that the log has for it: `An access rule is for the network 192.0.2.0/24`. */
export function ruleName(id: string): string {
  const colon = id.indexOf(':');
  const [type, name] = [id.slice(0, colon), id.slice(colon + 1)];
  if (type === 'policy') return raised(policyWords(name));
  if (type === 'limit') return raised(limitWords(name));
  const detector = type === 'risk' ? riskDetectors.find((one) => one === name) : undefined;
  return detector === undefined ? raised(ruleReason(id)) : detectors[detector].compares.replace(/\.$/, '');
}

interface WhyOfRecord {
  /** What the table says; `null`: none was applied. */
  outcome: { decision: Decision; why: Why } | null;
  /** What came after the table, and counts. */
  later: Why | null;
}

/** `null`: only the log's own sentence says it. */
function whyOf(record: VerdictRecord): WhyOfRecord | null {
  const { decision, source, explain } = record;
  const inputs = inputsOfRecord(record);
  const decided = inputs === null ? null : decide(inputs);
  const outcome = decided && { decision: decided.decision, why: because(decided, inputs!, record) };
  const step = laterSteps[source];
  if (step !== undefined && (source === 'no-session' || decision === 'allow')) {
    const lead = decision === 'allow' ? 'Allowed: ' : 'Challenged, because ';
    const isForSession = source === 'clearance' && outcome?.decision === 'allow';
    return { outcome, later: { lead, reason: isForSession ? CLEARED_FOR_SESSION : step } };
  }
  if (source !== 'error') return outcome && { outcome, later: null };
  if (explain !== undefined) return null;
  return { outcome, later: { lead: `${verbs[decision]} by `, reason: 'the failure policy, because something failed' } };
}

function tailOf(decision: Decision): string {
  if (decision === 'challenge') return ' A solved challenge lets the visitor through.';
  return decision === 'block' ? ' No challenge lifts it.' : '';
}

function raised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function lowered(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
}

function because({ decision, input }: DecideOutcome, inputs: DecideInputs, record: VerdictRecord): Why {
  const verb = verbs[decision];
  if (input === 'default') return { lead: 'Allowed, because ', reason: 'nothing speaks against it' };
  if (input === 'policy') return policyReason(decision, inputs.policy!.reason, record);
  return { lead: `${verb}, because `, ...reasons[input](inputs, record) };
}

const reasons: Record<
  Exclude<DecideOutcome['input'], 'default' | 'policy'>,
  (inputs: DecideInputs, record: Pick<VerdictRecord, 'fired_rules'>) => Omit<Why, 'lead'>
> = {
  network: ({ network }) => ({ reason: ruleReason(network!.id) }),
  client: ({ client }) => ({ reason: ruleReason(client!.id) }),
  bot: ({ bot }) => ({ reason: `the bot policy says so of ${shown(bot!.id)}`, detail: `, ${proofs[bot!.proof]}` }),
  category: ({ category }) => ({
    reason: `the instance has an answer for addresses of the category “${category!.category}”`,
  }),
  risk: ({ risk }, record) => riskReason(risk!.score, record),
  limit: ({ limit }) => ({ reason: limitWords(limit!.name) }),
};

const PACE_REASON =
  'its session asks for more pages and calls than a person does, and its browser did not work for them';

function limitWords(name: string): string {
  return name === SESSION_PACE ? PACE_REASON : `it is above the limit “${shown(name)}”`;
}

function ruleReason(id: string): string {
  const colon = id.indexOf(':');
  const [type, value] = [id.slice(0, colon), shown(id.slice(colon + 1))];
  if (type === 'list') return `the list “${value}” has the visitor’s address or network`;
  const subject = ruleSubjects[type as EdgeRuleType];
  return subject === undefined ? `the rule ${shown(id)} says so` : `an access rule is for ${subject} ${value}`;
}

function riskReason(score: number, { fired_rules: fired }: Pick<VerdictRecord, 'fired_rules'>): Omit<Why, 'lead'> {
  const parts = riskDetectors
    .filter((name) => fired.some(({ id }) => id === `risk:${name}`))
    .toSorted((one, other) => (detectors[other].weights.session ?? 0) - (detectors[one].weights.session ?? 0))
    .slice(0, PARTS_NAMED_MAX)
    .map((name) => lowered(detectors[name].compares).replace(/\.$/, ''));
  const reason = `its risk is ${Math.round(score * 100)} of 100`;
  return parts.length === 0 ? { reason } : { reason, detail: `: ${parts.join('; ')}` };
}

function policyReason(decision: Decision, reason: string, record: VerdictRecord): Why {
  const verb = outcomeOfRecord(record) === 'redirect' ? 'Redirected' : verbs[decision];
  if (reason === 'onPending' && decision === 'allow') {
    return { lead: 'Allowed: ', reason: 'a page without a session, whose script opens one' };
  }
  const said = {
    lead: `${verb}${Object.hasOwn(ownPolicies, reason) ? ', because' : ' by'} `,
    reason: policyWords(reason),
  };
  if (reason === 'noSession') return { ...said, detail: ` (${record.session_status})` };
  return reason === 'pendingBudget' ? { ...said, detail: ', and its budget for these is used up' } : said;
}

/** Policies that the gate has of its own. */
const ownPolicies: Readonly<Record<string, string>> = {
  onPending: 'pages ask for a session here, and the visitor had none',
  noSession: 'only visitors with a session send forms here',
  pendingBudget: 'its network has asked for many pages without opening a session',
};

function policyWords(reason: string): string {
  if (Object.hasOwn(ownPolicies, reason)) return ownPolicies[reason]!;
  if (reason.startsWith('path:')) return `the path rule ${shown(reason.slice('path:'.length))}`;
  return `the policy “${shown(reason)}”`;
}

/** A visitor's or an operator's text can be long. */
function shown(text: string): string {
  if (text.length <= NAME_MAX_CHARS) return text;
  return `${text.slice(0, NAME_MAX_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
