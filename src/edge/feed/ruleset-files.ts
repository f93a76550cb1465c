/**
 * Ruleset files on their way into memory (design 4): signature, hash, instance and base are checked
 * here and only here. A file that fails any of them is `null`, never an exception.
 */
import { decodeBase64url } from '../../bytes/base64url.ts';
import type { EdgeConfig } from '../../contract/edge/edge-api.ts';
import { openDelta } from '../../rules/delta.ts';
import type { Delta } from '../../rules/delta.ts';
import { createRuleset } from '../../rules/ruleset.ts';
import type { Ruleset } from '../../rules/ruleset.ts';
import { openSignedRuleset } from '../../rules/signing.ts';
import { openSnapshot } from '../../rules/snapshot.ts';
import type { Snapshot } from '../../rules/snapshot.ts';

export type RulesetKeys = ReadonlyMap<string, CryptoKey>;

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

export async function importRulesetKeys(keys: EdgeConfig['rulesetKeys']): Promise<RulesetKeys> {
  const imported = keys.map(async ({ kid, publicKey }) => {
    const raw = decodeBase64url(publicKey) ?? new Uint8Array(0);
    return [kid, await crypto.subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify'])] as const;
  });
  return new Map(await Promise.all(imported));
}

export async function openBase(
  file: Uint8Array,
  expectedHash: string,
  instanceId: string,
  keys: RulesetKeys,
): Promise<LoadedBase | null> {
  const signed = await openSignedRuleset(file, keys);
  if (!signed.ok || signed.hash !== expectedHash) return null;
  const opened = openSnapshot(signed.payload);
  if (!opened.ok || opened.snapshot.instanceId !== instanceId) return null;
  return { hash: signed.hash, snapshot: opened.snapshot };
}

export async function openDeltaOver(
  file: Uint8Array,
  baseHash: string,
  version: number,
  instanceId: string,
  keys: RulesetKeys,
): Promise<Delta | null> {
  const signed = await openSignedRuleset(file, keys);
  const opened = signed.ok ? openDelta(signed.payload) : signed;
  if (!opened.ok) return null;
  const { delta } = opened;
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
