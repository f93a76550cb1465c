/**
 * Opens ruleset files: signature, hash, instance and base are checked here and only here. A file that fails any check
 * is a fault, never an exception.
 */
import { failed, ok, type Result } from '../../result.ts';
import type { RulesetKeys } from '../config/compiled-config.ts';
import { type BotTable, openBotTable } from '../../bots/open-bot-table.ts';
import { type Delta, openDelta } from '../../rules/delta.ts';
import { createRuleset, type Ruleset } from '../../rules/ruleset.ts';
import { openSignedRuleset } from '../../rules/signing.ts';
import { openSnapshot, type Snapshot } from '../../rules/snapshot.ts';

export interface LoadedBase {
  hash: string;
  snapshot: Snapshot;
}

export interface LoadedRuleset {
  baseHash: string;
  version: number;
  ruleCount: number;
  match: Ruleset['match'];
}

/**
 * `unsigned`: no key of this instance signed it as it is. `unreadable`: this release cannot read it. `other`: it is not the
 * file that was asked for.
 */
export interface RulesetFault {
  kind: 'unsigned' | 'unreadable' | 'other';
}
const UNSIGNED = failed<RulesetFault>({ kind: 'unsigned' });
const UNKNOWN_FORM = failed<RulesetFault>({ kind: 'unreadable' });
const OTHER = failed<RulesetFault>({ kind: 'other' });

export async function openBase(
  file: Uint8Array,
  expectedHash: string,
  instanceId: string,
  keys: RulesetKeys,
): Promise<Result<LoadedBase, RulesetFault>> {
  const signed = await openSignedRuleset(file, keys);
  if (!signed.ok) return UNSIGNED;
  const { hash, payload } = signed.value;
  if (hash !== expectedHash) return OTHER;
  const opened = openSnapshot(payload);
  if (!opened.ok) return UNKNOWN_FORM;
  return opened.value.instanceId === instanceId ? ok({ hash, snapshot: opened.value }) : OTHER;
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

export async function openDeltaOver(
  file: Uint8Array,
  baseHash: string,
  version: number,
  instanceId: string,
  keys: RulesetKeys,
): Promise<Result<Delta, RulesetFault>> {
  const signed = await openSignedRuleset(file, keys);
  if (!signed.ok) return UNSIGNED;
  const opened = openDelta(signed.value.payload);
  if (!opened.ok) return UNKNOWN_FORM;
  const delta = opened.value;
  const fits = delta.baseHash === baseHash && delta.version === version && delta.instanceId === instanceId;
  return fits ? opened : OTHER;
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
