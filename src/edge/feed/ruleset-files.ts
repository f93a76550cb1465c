/**
 * Opens ruleset files: signature, hash, instance and base are checked here and only here. A file that fails any check
 * is `null`, never an exception.
 */
import type { RulesetKeys } from '../config/compiled-config.ts';
import { openBotTable } from '../../bots/open-bot-table.ts';
import type { BotTable } from '../../bots/open-bot-table.ts';
import { openSignedDelta } from '../../rules/delta.ts';
import type { Delta } from '../../rules/delta.ts';
import { createRuleset } from '../../rules/ruleset.ts';
import type { Ruleset } from '../../rules/ruleset.ts';
import { openSignedRuleset } from '../../rules/signing.ts';
import { openSignedSnapshot } from '../../rules/snapshot.ts';
import type { Snapshot } from '../../rules/snapshot.ts';

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

export async function openBase(
  file: Uint8Array,
  expectedHash: string,
  instanceId: string,
  keys: RulesetKeys,
): Promise<LoadedBase | null> {
  const signed = await openSignedRuleset(file, keys);
  if (!signed.ok || signed.value.hash !== expectedHash) return null;
  const opened = openSignedSnapshot(signed.value.payload);
  if (!opened.ok || opened.value.instanceId !== instanceId) return null;
  return { hash: signed.value.hash, snapshot: opened.value };
}

export async function openBots(file: Uint8Array, expectedHash: string, keys: RulesetKeys): Promise<BotTable | null> {
  const signed = await openSignedRuleset(file, keys);
  if (!signed.ok || signed.value.hash !== expectedHash) return null;
  const opened = openBotTable(signed.value.payload);
  return opened.ok ? opened.value : null;
}

export async function openDeltaOver(
  file: Uint8Array,
  baseHash: string,
  version: number,
  instanceId: string,
  keys: RulesetKeys,
): Promise<Delta | null> {
  const signed = await openSignedRuleset(file, keys);
  const opened = signed.ok ? openSignedDelta(signed.value.payload) : signed;
  if (!opened.ok) return null;
  const delta = opened.value;
  const fits = delta.baseHash === baseHash && delta.version === version && delta.instanceId === instanceId;
  return fits ? delta : null;
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
