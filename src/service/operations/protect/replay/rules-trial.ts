/**
 * Applies a change of rules to the requests of a window, newest first: each goes through the gate of now and through the
 * gate with the change. Changes that an index of the log can find (one address, or networks) are exact over the whole
 * window, however long it is. Any other one is applied to the newest records up to a limit.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { EdgeRuleCanonical } from '../../../../contract/management/edge-rule.ts';
import { type Decision, visitorSources } from '../../../../contract/vocabulary.ts';
import type { MatchedRule, RuleMatch } from '../../../../rules/types.ts';
import { everything, type RowFilter } from '../../../../store/event-log/row-filter.ts';
import type { RuleKey, RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import type { ServiceStore } from '../../../environment.ts';
import type { RuleChange } from '../access-rules/planned-changes.ts';
import { canonicalRule } from '../access-rules/rule-response.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { currentGate } from './current-gate.ts';
import { isUntouchable, loggedSignals, replay, type ReplayGate } from './gate-replay.ts';
import { mergedMatch, type Proposal } from './merged-match.ts';
import { compared, type Compared, ChangeSums, changeSample } from './previewed-changes.ts';
import { countRecords, type Examined, examineNewest } from './previewed-requests.ts';

/** Values of one filter. */
const INDEXED_MAX = 100;
/** A failure policy decided the others, whatever the rules were. */
const sources = visitorSources.filter((source) => source !== 'error');

/** `examined` has the requests too that the index of the log has shown to be untouched. */
interface RulesTrial extends Examined {
  changes: ChangeSums;
  effects: PreviewEffects;
  /** Requests that the change may touch, of which the log does not have what was decided from. */
  withoutInputs: number;
  /** All requests of the window. */
  inWindow: number;
}

export async function tryRules(
  store: ServiceStore,
  target: LogTarget,
  window: Pick<RowFilter, 'since'> & Partial<Pick<RowFilter, 'until'>>,
  proposal: Proposal,
  keys: readonly RuleKey[],
  nowMs: number,
): Promise<RulesTrial> {
  const filter: RowFilter = { ...everything, ...window, sources };
  const inWindow = await countRecords(store, target.log, filter);
  const gate = await currentGate(store, target.instance, nowMs);
  const trial = { changes: new ChangeSums(), effects: new PreviewEffects(), withoutInputs: 0 };
  const found = indexed(keys);
  const done = await examineNewest(
    store,
    target.log,
    { ...filter, ...found },
    (record) => {
      if (!isUntouchable(record, gate)) examine(trial, record, gate, proposal, Math.floor(nowMs / 1000));
    },
    () => trial.effects.isFull || trial.changes.isFull,
  );
  const isWhole = done.complete && found !== null;
  return { ...trial, ...done, inWindow, examined: isWhole ? Math.max(inWindow, done.examined) : done.examined };
}

/** What every request that a change of these rules can touch has; `null`: no index finds them. */
function indexed(keys: readonly RuleKey[]): Partial<RowFilter> | null {
  const [first] = keys;
  if (first === undefined || keys.length > INDEXED_MAX) return null;
  if (keys.length === 1 && first.type === 'ip') return { ip: first.value };
  if (keys.every(({ type }) => type === 'asn')) return { asns: keys.map(({ value }) => Number(value)) };
  return null;
}

function examine(
  trial: Pick<RulesTrial, 'changes' | 'effects' | 'withoutInputs'>,
  record: VerdictRecord,
  gate: ReplayGate,
  proposal: Proposal,
  nowSeconds: number,
): void {
  const signals = loggedSignals(record);
  const nowMatch = gate.match(signals);
  const thenMatch = mergedMatch(gate.match(signals, 'every entry'), proposal, signals, nowSeconds);
  const touched = touchedRules(nowMatch, thenMatch, proposal);
  if (touched.size === 0) return;
  if (record.inputs === undefined) {
    trial.withoutInputs += 1;
    return;
  }
  const now = replay(record, { ...gate, match: () => nowMatch });
  const then = replay(record, { ...gate, match: () => thenMatch });
  trial.changes.tried(now, then);
  const outcome = asDecisions(compared(now, then));
  trial.changes.note(record, outcome);
  if (outcome !== null) trial.effects.note(touched, record, outcome);
}

/** Ids of the proposed rules that match the request, and of those that match it now and would be replaced or deleted. */
function touchedRules({ fired: now }: RuleMatch, { fired: then }: RuleMatch, { ids }: Proposal): ReadonlySet<string> {
  const isProposed = ({ id }: MatchedRule): boolean => ids.has(id);
  return new Set([...then, ...now].filter(isProposed).map(({ id }) => id));
}

/** Rules decide nothing about redirects: a redirected request is an allowed one. */
function asDecisions(outcome: Compared | null): RuleCompared | null {
  if (outcome === null) return null;
  const { from, to, decidedBy } = outcome;
  return { from: from === 'redirect' ? 'allow' : from, to: to === 'redirect' ? 'allow' : to, decidedBy };
}

interface RuleCompared extends Compared {
  from: Decision;
  to: Decision;
}

const EFFECTS_MAX = 1000;
/**
 * Rules of requests, each of which takes memory for its visitor: 20 rules for each request of a whole preview. A visitor
 * can name a hundred bots in one user agent.
 */
const TOUCHES_MAX = 1_000_000;
/** Of a user agent that tells visitors apart. */
const VISITOR_AGENT_MAX_CHARS = 256;
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
  /** By number. */
  visitors: Set<number>;
  changes: Effect['changes'];
  /** Requests that would be decided otherwise come first. */
  changed: object[];
  same: object[];
}

/**
 * What each proposed rule would have done: how many logged requests and visitors it would have touched, what would have
 * become of them, and examples. A request that several of the rules match counts under each of them.
 */
export class PreviewEffects {
  readonly #touched = new Map<string, Touched>();
  readonly #visitors = new Map<string, number>();
  readonly #touchesMax: number;
  #touches = 0;

  constructor(touchesMax = TOUCHES_MAX) {
    this.#touchesMax = touchesMax;
  }

  get isFull(): boolean {
    return this.#touches >= this.#touchesMax;
  }

  /** `ids`: of the proposed rules that matched, or that fired and would be deleted. */
  note(ids: ReadonlySet<string>, record: VerdictRecord, outcome: RuleCompared): void {
    const { from: before, to: after } = outcome;
    const visitor = this.#numberOf(record);
    this.#touches += ids.size;
    for (const id of ids) {
      const touched = this.#of(id);
      touched.requests += 1;
      touched.visitors.add(visitor);
      const change = touched.changes.find(({ from, to }) => from === before && to === after);
      if (change) change.requests += 1;
      else touched.changes.push({ from: before, to: after, requests: 1 });
      const examples = before === after ? touched.same : touched.changed;
      if (examples.length < EXAMPLES_MAX) examples.push(changeSample(record, outcome));
    }
  }

  #numberOf({ jti, ip, user_agent: userAgent }: VerdictRecord): number {
    const visitor = jti ?? `${ip}\n${userAgent.slice(0, VISITOR_AGENT_MAX_CHARS)}`;
    const known = this.#visitors.get(visitor) ?? this.#visitors.size;
    this.#visitors.set(visitor, known);
    return known;
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
