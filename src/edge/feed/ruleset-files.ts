/** The two files that an edge loads, made ready for requests: the table of bots, and the rules of a base and its changes. */
import type { Result } from '../../result.ts';
import {
  type LoadedBase,
  OTHER,
  type RulesetFault,
  type RulesetKeys,
  UNKNOWN_FORM,
  UNSIGNED,
} from '../../rules/ruleset-files.ts';
import { type BotTable, openBotTable } from '../../bots/open-bot-table.ts';
import type { Delta } from '../../rules/delta.ts';
import { createRuleset, type Ruleset } from '../../rules/ruleset.ts';
import { openSignedRuleset } from '../../rules/signing.ts';

export interface LoadedRuleset {
  baseHash: string;
  version: number;
  ruleCount: number;
  match: Ruleset['match'];
}

export async function openBots(
  file: Uint8Array,
  expectedHash: string,
  keys: RulesetKeys,
): Promise<Result<BotTable, RulesetFault>> {
  const signed = await openSignedRuleset(file, keys);
  if (!signed.ok) return UNSIGNED;
  if (signed.value.hash !== expectedHash) return OTHER;
  const opened = openBotTable(signed.value.payload);
  return opened.ok ? opened : UNKNOWN_FORM;
}

export function rulesetOf(base: LoadedBase, delta: Delta | null, version: number): LoadedRuleset {
  const ruleset = createRuleset(base.snapshot, delta);
  return {
    baseHash: base.hash,
    version,
    ruleCount: ruleset.ruleCount,
    match: (signals, nowSeconds) => ruleset.match(signals, nowSeconds),
  };
}
