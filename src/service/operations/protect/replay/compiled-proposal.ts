/** A few rules and entries of lists as a ruleset of their own, compiled and opened as the edge does it. */
import { RulesetCompiler } from '../../../../rules/compiler.ts';
import type { ListLayer } from '../../../../rules/list-layers.ts';
import { createRuleset, type Ruleset } from '../../../../rules/ruleset.ts';
import { openSnapshot } from '../../../../rules/snapshot.ts';
import type { EdgeRule } from '../../../../rules/types.ts';
import type { ListedEntry } from '../../../../store/rule-book/list-rpc.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import { ruleId } from '../access-rules/rule-response.ts';
import type { Proposal } from './merged-match.ts';

interface ProposedRules {
  rules: readonly EdgeRule[];
  /** Those of the list that owns a value first. */
  entries: readonly ListedEntry[];
  /** Rules of now that have no effect after the change. */
  replaced: readonly RuleKey[];
}

export function compiledProposal(instanceId: string, { rules, entries, replaced }: ProposedRules): Proposal {
  return { ruleset: compiledRules(instanceId, rules, entries), ids: new Set(replaced.map(ruleId)) };
}

export function compiledRules(
  instanceId: string,
  rules: readonly EdgeRule[],
  entries: readonly ListedEntry[],
): Ruleset {
  const lists = layersOf(entries);
  const compiler = new RulesetCompiler({ instanceId, version: 0, createdAtMs: 0, lists });
  // Of several rules for a value the one that is added last counts: the operator's, before it the strongest list's.
  for (const { list, type, value, verdict } of entries.toReversed()) {
    compiler.add({ type, value, verdict, list: lists.findIndex(({ name }) => name === list) + 1 });
  }
  for (const rule of rules) compiler.add(rule);
  return openedRules(compiler);
}

/** @throws Error for rules that the compiler should have refused. */
export function openedRules(compiler: RulesetCompiler): Ruleset {
  const opened = openSnapshot(compiler.finish());
  if (!opened.ok) throw new Error(`The compiled rules cannot be opened: ${opened.error}`);
  return createRuleset(opened.value, null);
}

function layersOf(entries: readonly ListedEntry[]): ListLayer[] {
  const layers = new Map(entries.map(({ list, verdict, mode }) => [list, { name: list, verdict, mode }]));
  return [...layers.values()].map((layer, at) => ({ ...layer, number: at + 1 }));
}
