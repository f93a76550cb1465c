/**
 * Applies a proposal to the requests of a window, newest first. Proposals that an index of the log can find (one address,
 * networks, rules that fired) are exact over the whole window, however long it is. Any other one is applied to the newest
 * records up to a limit.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { type Decision, verdictSources } from '../../../../contract/vocabulary.ts';
import { everything, type RowFilter } from '../../../../store/event-log/row-filter.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import type { ServiceStore } from '../../../environment.ts';
import { previewedRequestOf } from '../verdicts/previewed-request.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { countRecords, type Examined, examineNewest } from '../verdicts/newest-records.ts';
import { PreviewEffects } from './preview-effects.ts';
import { isWithoutTable } from './recorded-inputs.ts';
import { ruleId } from './rule-hits.ts';
import { type Proposal, touchedRules, type WhatIf, whatIf } from './what-if.ts';

/** Of each change, so that a frequent one does not hide a rare one. */
const SAMPLES_MAX = 10;
/** Values of one filter. */
const INDEXED_MAX = 100;
/** A failure policy decided the others, whatever the rules were. */
const sources = verdictSources.filter((source) => source !== 'error');

export interface Change {
  from: Decision;
  to: Decision;
  requests: number;
  addresses: Set<string | null>;
}

interface Seen {
  changes: Change[];
  samples: object[];
  effects: PreviewEffects;
  /** Requests that the proposal may touch, of which the log does not have what was decided from. */
  withoutInputs: number;
}

/** `examined` has the requests too that the index of the log has shown to be untouched. */
export interface Trial extends Seen, Examined {
  /** All requests of the window. */
  inWindow: number;
}

export async function tryProposal(
  store: ServiceStore,
  target: LogTarget,
  window: Pick<RowFilter, 'since'> & Partial<Pick<RowFilter, 'until'>>,
  proposal: Proposal,
  rules: readonly RuleKey[],
  deleted: readonly RuleKey[],
): Promise<Trial> {
  const filter: RowFilter = { ...everything, ...window, sources };
  const inWindow = await countRecords(store, target.log, filter);
  const found = indexed(rules, deleted);
  const seen: Seen = { changes: [], samples: [], effects: new PreviewEffects(), withoutInputs: 0 };
  const done = await examineNewest(store, target.log, { ...filter, ...found }, (record) =>
    examine(seen, record, proposal),
  );
  const isWhole = done.complete && found !== null;
  return { ...seen, ...done, inWindow, examined: isWhole ? Math.max(inWindow, done.examined) : done.examined };
}

/** What every request that the proposal can touch has; `null`: no index finds them. */
function indexed(rules: readonly RuleKey[], deleted: readonly RuleKey[]): Partial<RowFilter> | null {
  if (rules.length === 0 && deleted.length <= INDEXED_MAX) return { firedRules: deleted.map(ruleId) };
  const [first] = rules;
  if (first === undefined || deleted.length > 0 || rules.length > INDEXED_MAX) return null;
  if (rules.length === 1 && first.type === 'ip') return { ip: first.value };
  if (rules.every(({ type }) => type === 'asn')) return { asns: rules.map(({ value }) => Number(value)) };
  return null;
}

function examine(trial: Seen, record: VerdictRecord, proposal: Proposal): void {
  const touched = touchedRules(record, proposal);
  if (touched.size === 0 || isWithoutTable(record)) return;
  const outcome = whatIf(record, proposal);
  if (outcome === null) {
    trial.withoutInputs += 1;
    return;
  }
  trial.effects.note(touched, record, outcome, () => sampleOf(record, outcome));
  if (outcome.before === outcome.after) return;
  const change = changeOf(trial, outcome);
  change.requests += 1;
  change.addresses.add(record.ip);
  if (change.requests <= SAMPLES_MAX) trial.samples.push(sampleOf(record, outcome));
}

function sampleOf(record: VerdictRecord, { before, after, decidedBy }: WhatIf): object {
  return { ...previewedRequestOf(record), from: before, to: after, decidedBy };
}

function changeOf({ changes }: Seen, { before: from, after: to }: WhatIf): Change {
  const known = changes.find((change) => change.from === from && change.to === to);
  if (known !== undefined) return known;
  const change: Change = { from, to, requests: 0, addresses: new Set() };
  changes.push(change);
  return change;
}
