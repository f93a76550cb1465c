/**
 * `POST /protect/verdicts/explain`: why one logged request was decided as it was. The record says which rules fired and
 * what every input said. The decision table is applied to that again, as it was and without what decided.
 */
import {
  verdictExplanationRequest,
  verdictExplanationResponse,
} from '../../../../contract/management/verdict-explanation.ts';
import { riskDetectors } from '../../../../contract/edge/risk-detectors.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { type Decision, edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import { decide, type DecideInputs, type DecideOutcome } from '../../../../rules/decision-table.ts';
import { type TableRow, tableRows } from '../../../../rules/explain.ts';
import { detectors, sessionWeight } from '../../../../risk/detectors.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import type { ServiceStore } from '../../../environment.ts';
import { protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { answeredBy } from '../chosen-instance.ts';
import {
  countingRules,
  isWithoutTable,
  type RecordedInputs,
  recordedInputs,
  strictestCategory,
  afterTable,
} from './recorded-inputs.ts';
import { ruleId, listedRule } from '../access-rules/rule-response.ts';
import { explainedVerdict } from './verdict-pages.ts';
import { headline } from './headline.ts';
import { findVerdict } from './find-reference.ts';

const laterSteps = ['clearance', 'verified', 'exempt', 'preflight', 'no-session', 'internal', 'error'] as const;

export const explainVerdictOperation = protectOperation({
  name: 'explain-verdict',
  path: '/protect/verdicts/explain',
  access: 'read',
  summary: 'Explain why one logged request was decided as it was',
  body: verdictExplanationRequest,
  response: verdictExplanationResponse,
  async handler(context) {
    const { store, body, nowMs } = context;
    const found = await findVerdict(context, body.requestId, body.siteKey);
    if (found === null) {
      throw new OperationError(
        'API.NOT_FOUND',
        'No verdict has this reference. A verdict arrives within seconds. Older ones than the instance\'s retentionDays are gone, and with allowVerdicts "counts" an allowed request leaves none.',
      );
    }
    const { record, instance } = found;
    answeredBy(context, instance);
    const rules = await firedRules(store, instance.id, record, nowMs);
    return {
      verdict: explainedVerdict(record),
      headline: headline(record),
      ...explanation(record, instance),
      ...rules,
      riskParts: riskParts(record),
    };
  },
});

type CategoryRules = Pick<StoredInstance, 'ipCategoryRules'>;

interface Explanation {
  table: TableRow[];
  tableDecision: Decision | null;
  laterStep: (typeof laterSteps)[number] | null;
  isEnforced: boolean;
  without: { by: string; decision: Decision; decidedBy: string } | null;
  isExact: boolean;
}

function explanation(record: VerdictRecord, policy: CategoryRules): Explanation {
  const laterStep = laterSteps.find((step) => step === record.source) ?? null;
  const isEnforced = record.enforcement_policy === 'enforce';
  // The gate's own addresses are served whatever the table says.
  const recorded = record.source === 'internal' ? null : recordedInputs(record);
  if (recorded === null) {
    const isExact = record.source === 'internal' || isWithoutTable(record);
    return { table: [], tableDecision: null, laterStep, isEnforced, without: null, isExact };
  }
  const outcome = decide(recorded.inputs);
  return {
    table: tableRows(recorded.inputs),
    tableDecision: outcome.decision,
    laterStep,
    isEnforced,
    without: withoutDeciding(record, recorded, outcome, policy),
    isExact: recorded.isExact,
  };
}

function withoutDeciding(
  record: VerdictRecord,
  recorded: RecordedInputs,
  outcome: DecideOutcome,
  policy: CategoryRules,
): Explanation['without'] {
  if (record.source === 'no-session') {
    return { by: record.decided_by, decision: outcome.decision, decidedBy: outcome.decidedBy };
  }
  if (outcome.input === 'default') return null;
  const { decision, decidedBy } = afterTable(inputsWithout(recorded, outcome, record, policy), record);
  return { by: outcome.decidedBy, decision, decidedBy };
}

/** A rule or category that is gone leaves room for the next one of its input. */
function inputsWithout(
  { inputs, rules }: RecordedInputs,
  { input, decidedBy }: DecideOutcome,
  record: VerdictRecord,
  policy: CategoryRules,
): DecideInputs {
  if (input === 'network' || input === 'client')
    return { ...inputs, ...countingRules(rules.filter(({ id }) => id !== decidedBy)) };
  const others = record.ip_category.filter((name) => name !== inputs.category?.category);
  return { ...inputs, [input]: input === 'category' ? strictestCategory(others, policy) : null };
}

async function firedRules(
  store: ServiceStore,
  instanceId: string,
  record: VerdictRecord,
  nowMs: number,
): Promise<ExplainedRules> {
  const fired = record.fired_rules.flatMap((rule) => {
    const key = ruleKey(rule.id);
    return key === null ? [] : [{ ...rule, key }];
  });
  const found = await ruleBook(store, instanceId).matching(
    fired.map(({ key }) => key),
    '',
    fired.length,
  );
  const now = new Map(found.rules.map((rule) => [ruleId(rule), listedRule(rule, { nowMs, unseen: [] })]));
  return {
    rules: fired.map(({ id, verdict, mode }) => ({ id, verdict, mode, now: now.get(id) ?? null })),
    currentRulesetVersion: found.version,
  };
}

interface ExplainedRules {
  rules: (VerdictRecord['fired_rules'][number] & { now: ReturnType<typeof listedRule> | null })[];
  currentRulesetVersion: number;
}

/** `null`: not a rule, but a part of the risk score or a mark. */
function ruleKey(id: string): RuleKey | null {
  const type = edgeRuleTypes.find((name) => id.startsWith(`${name}:`));
  return type === undefined ? null : { type, value: id.slice(type.length + 1) };
}

function riskParts({ fired_rules: fired }: VerdictRecord): { detector: string; weight: number; says: string }[] {
  const ids = new Set(fired.map(({ id }) => id));
  return riskDetectors
    .filter((detector) => ids.has(`risk:${detector}`))
    .map((detector) => ({ detector, weight: sessionWeight(detector), says: detectors[detector].compares }));
}
