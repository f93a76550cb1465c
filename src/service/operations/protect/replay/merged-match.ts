/**
 * The rules that match a request after a change of rules: those of now without what the change replaces, and those of
 * the change. They count as in a compiled ruleset: the most specific network rule, the strictest client rule, and of
 * several rules for one value the operator's, else the entry of the strictest list.
 */
import type { EdgeRuleType } from '../../../../contract/vocabulary.ts';
import { restrictiveness } from '../../../../rules/decision-table.ts';
import type { Ruleset } from '../../../../rules/ruleset.ts';
import type { MatchedRule, MatchSignals, RuleMatch } from '../../../../rules/types.ts';

/** A change of rules, ready to be matched. */
export interface Proposal {
  /** Has the proposed rules, and entries of lists that deleted rules hide now. */
  ruleset: Pick<Ruleset, 'match'>;
  /** `type:value` of each proposed rule, which replaces an existing one, and of each rule that would be deleted. */
  ids: ReadonlySet<string>;
}

/** `now`: the rules of now that match, with every entry of a list, because the change may replace the first of them. */
export function mergedMatch(
  now: RuleMatch,
  { ruleset, ids }: Proposal,
  signals: MatchSignals,
  nowSeconds: number,
): RuleMatch {
  const kept = now.fired.filter((rule) => !ids.has(rule.id) && !ids.has(valueOf(rule)));
  const proposed = ruleset.match(signals, nowSeconds, 'every entry').fired;
  const owners = new Map<string, MatchedRule>();
  for (const rule of [...kept, ...proposed]) {
    const owner = owners.get(valueOf(rule));
    if (owner === undefined || owns(rule, owner)) owners.set(valueOf(rule), rule);
  }
  return rankedMatch([...owners.values()]);
}

/** The match of a ruleset that has these rules, each of which is for another value. */
function rankedMatch(rules: readonly MatchedRule[]): RuleMatch {
  const lists = new Set<string>();
  const network = rules
    .filter(({ type }) => !isClient(type))
    .toSorted((one, other) => specificity(other) - specificity(one))
    .filter((rule) => {
      if (rule.entry === undefined) return true;
      // The most specific entry of a list stands for all of them.
      const isFirst = !lists.has(rule.id);
      lists.add(rule.id);
      return isFirst;
    });
  const client = rules.filter(({ type }) => isClient(type)).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return {
    network: network.find(({ mode }) => mode === 'enforce') ?? null,
    client: strictest(client),
    fired: [...network, ...client],
  };
}

function strictest(rules: readonly MatchedRule[]): MatchedRule | null {
  let found: MatchedRule | null = null;
  for (const rule of rules) {
    if (rule.mode === 'monitor') continue;
    if (found === null || restrictiveness[rule.verdict] > restrictiveness[found.verdict]) found = rule;
  }
  return found;
}

/** `type:value`, for entries of lists as well. */
function valueOf({ id, entry }: MatchedRule): string {
  return entry ?? id;
}

/** Whether `rule` is in force for the value of both. As `byRank` of the rule book orders lists. */
function owns(rule: MatchedRule, other: MatchedRule): boolean {
  if (rule.entry === undefined || other.entry === undefined) return rule.entry === undefined;
  if (rule.mode !== other.mode) return rule.mode === 'enforce';
  const stricter = restrictiveness[rule.verdict] - restrictiveness[other.verdict];
  return stricter === 0 ? rule.id < other.id : stricter > 0;
}

function isClient(type: EdgeRuleType): boolean {
  return type === 'ja4Hash' || type === 'userAgent';
}

/** `ip` > longest `ipMask` > `asn` > `countryCode`; 0 for client rules. */
export function specificity(rule: Pick<MatchedRule, 'id' | 'entry' | 'type'>): number {
  switch (rule.type) {
    case 'ip':
      return 1000;
    case 'ipMask': {
      const id = rule.entry ?? rule.id;
      return 100 + Number(id.slice(id.lastIndexOf('/') + 1));
    }
    case 'asn':
      return 2;
    case 'countryCode':
      return 1;
    case 'ja4Hash':
    case 'userAgent':
      return 0;
  }
}
