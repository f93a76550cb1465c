/**
 * Opens files of rules: signature, hash, instance and base are checked here and only here. A file that fails any check
 * is a fault, never an exception.
 */
import { decodeBase64url } from '../bytes/base64url.ts';
import { failed, ok, type Result } from '../result.ts';
import { type Delta, openDelta } from './delta.ts';
import { openSignedRuleset } from './signing.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';

/** Public keys that verify ruleset files, by key id. */
export type RulesetKeys = ReadonlyMap<string, CryptoKey>;

/** From raw Ed25519 public keys in base64url. */
export async function importRulesetKeys(keys: readonly { kid: string; publicKey: string }[]): Promise<RulesetKeys> {
  const imported = keys.map(async ({ kid, publicKey }) => {
    const bytes = decodeBase64url(publicKey) ?? new Uint8Array(0);
    return [kid, await crypto.subtle.importKey('raw', bytes, { name: 'Ed25519' }, false, ['verify'])] as const;
  });
  return new Map(await Promise.all(imported));
}

export interface LoadedBase {
  hash: string;
  snapshot: Snapshot;
}

/**
 * `unsigned`: no key of this instance signed it as it is. `unreadable`: this release cannot read it. `other`: it is not the
 * file that was asked for.
 */
export interface RulesetFault {
  kind: 'unsigned' | 'unreadable' | 'other';
}
export const UNSIGNED = failed<RulesetFault>({ kind: 'unsigned' });
export const UNKNOWN_FORM = failed<RulesetFault>({ kind: 'unreadable' });
export const OTHER = failed<RulesetFault>({ kind: 'other' });

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
