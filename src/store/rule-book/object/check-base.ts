/**
 * Whether the file of a base in R2 is still the one that was compiled. A file that is gone, cut off or changed cannot be
 * loaded by any edge, and an edge that starts with it has no rules.
 */
import { openSignedRuleset } from '../../../rules/signing.ts';
import { verificationKeys } from '../../keys/signing-keys.ts';
import { rulesetKey } from '../ruleset-objects.ts';

/** @throws when R2 does not answer: then nothing is known of the file. */
export async function isBaseSound(env: ServiceEnv, instanceId: string, hash: string, nowMs: number): Promise<boolean> {
  const file = await env.RULESETS.get(rulesetKey(instanceId, hash));
  if (file === null) return false;
  const keys = await verificationKeys(env, 'ruleset', nowMs);
  const opened = await openSignedRuleset(
    new Uint8Array(await file.arrayBuffer()),
    new Map(keys.map(({ kid, publicKey }) => [kid, publicKey])),
  );
  return opened.ok && opened.value.hash === hash;
}
