/**
 * Applies a proposal to the requests of a window, newest first. Proposals that an index of the log can find (one
 * address, networks, rules that fired) are exact over the whole window, however long it is. Any other one is applied to
 * the newest records up to a limit.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { type Decision, verdictSources } from '../../../../contract/vocabulary.ts';
import { everything, type RowFilter } from '../../../../store/event-log/row-filter.ts';
import type { RuleKey, RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import type { ServiceStore } from '../../../environment.ts';
import { previewedRequestOf, countRecords, type Examined, examineNewest } from '../verdicts/previewed-requests.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { isWithoutTable, type Proposal, touchedRules, type WhatIf, whatIf } from './what-if.ts';
import { canonicalRule, ruleId } from './rule-response.ts';
import type { EdgeRuleCanonical } from '../../../../contract/management/edge-rule.ts';
import type { RuleChange } from './planned-changes.ts';

/** Of each change, so that a frequent one does not hide a rare one. */
const SAMPLES_MAX = 10;
/** Values of one filter. */
const INDEXED_MAX = 100;
/** A failure policy decided the others, whatever the rules were. */
const sources = verdictSources.filter((source) => source !== 'error');

interface Change {
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
interface Trial extends Seen, Examined {
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
  const change = notedChange(trial, outcome);
  change.requests += 1;
  change.addresses.add(record.ip);
  if (change.requests <= SAMPLES_MAX) trial.samples.push(sampleOf(record, outcome));
}

function sampleOf(record: VerdictRecord, { before, after, decidedBy }: WhatIf): object {
  return { ...previewedRequestOf(record), from: before, to: after, decidedBy };
}

function notedChange({ changes }: Seen, { before: from, after: to }: WhatIf): Change {
  const known = changes.find((change) => change.from === from && change.to === to);
  if (known !== undefined) return known;
  const change: Change = { from, to, requests: 0, addresses: new Set() };
  changes.push(change);
  return change;
}

const EFFECTS_MAX = 1000;
const EXAMPLES_MAX = 3;

interface Effect {
  rule: string;
  change: RuleChange;
  proposed: EdgeRuleCanonical | null;
  requests: number;
  visitors: number;
  changes: { from: Decision; to: Decision; requests: number }[];
  examples: object[];
}

interface Touched {
  requests: number;
  visitors: Set<string>;
  changes: Effect['changes'];
  /** Requests that would be decided otherwise come first. */
  changed: object[];
  same: object[];
}

/**
 * What each proposed rule would have done: how many logged requests and visitors it would have touched, what would have
 * become of them, and examples. A request that several of the rules match counts under each of them.
 */
class PreviewEffects {
  readonly #touched = new Map<string, Touched>();

  /** `ids`: of the proposed rules that matched, or that fired and would be deleted. */
  note(ids: Iterable<string>, record: VerdictRecord, { before, after }: WhatIf, example: () => object): void {
    for (const id of ids) {
      const touched = this.#of(id);
      touched.requests += 1;
      touched.visitors.add(record.jti ?? `${record.ip}\n${record.user_agent}`);
      const change = touched.changes.find(({ from, to }) => from === before && to === after);
      if (change) change.requests += 1;
      else touched.changes.push({ from: before, to: after, requests: 1 });
      const examples = before === after ? touched.same : touched.changed;
      if (examples.length < EXAMPLES_MAX) examples.push(example());
    }
  }

  #of(id: string): Touched {
    const known = this.#touched.get(id);
    if (known) return known;
    const made: Touched = { requests: 0, visitors: new Set(), changes: [], changed: [], same: [] };
    this.#touched.set(id, made);
    return made;
  }

  /** The rules that touched most requests first. */
  result(
    changeOf: ReadonlyMap<string, RuleChange>,
    proposedOf: ReadonlyMap<string, RuleWrite>,
  ): { rulesTouched: number; effects: Effect[] } {
    const proposed = (rule: string) => {
      const write = proposedOf.get(rule);
      return write === undefined ? null : canonicalRule(write);
    };
    const effects = [...this.#touched]
      .sort(([a, one], [b, other]) => other.requests - one.requests || (a < b ? -1 : 1))
      .slice(0, EFFECTS_MAX)
      .map(([rule, { requests, visitors, changes, changed, same }]) => ({
        rule,
        change: changeOf.get(rule) ?? ('added' as const),
        proposed: proposed(rule),
        requests,
        visitors: visitors.size,
        changes: changes.toSorted((a, b) => b.requests - a.requests),
        examples: [...changed, ...same].slice(0, EXAMPLES_MAX),
      }));
    return { rulesTouched: this.#touched.size, effects };
  }
}
