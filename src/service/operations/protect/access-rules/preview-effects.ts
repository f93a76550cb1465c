/**
 * What each proposed rule would have done: how many logged requests and visitors it would have touched, what would have
 * become of them, and examples. A request that several of the rules match counts under each of them. Pure.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { EdgeRuleCanonical } from '../../../../contract/management/edge-rule.ts';
import type { Decision } from '../../../../contract/vocabulary.ts';
import type { RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import type { RuleChange } from './planned-changes.ts';
import { canonicalRule } from './rule-response.ts';
import type { WhatIf } from './what-if.ts';

const EFFECTS_MAX = 1000;
const EXAMPLES_MAX = 3;

export interface Effect {
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

export class PreviewEffects {
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
