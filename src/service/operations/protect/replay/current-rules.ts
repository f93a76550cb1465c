/** The ruleset that edges hold now, opened as an edge opens it: the compiled base from R2, and the changes since. */
import { importRulesetKeys, openBase, openDeltaOver } from '../../../../rules/ruleset-files.ts';
import { failed, ok, type Result } from '../../../../result.ts';
import { encodeBase64url } from '../../../../bytes/base64url.ts';
import { createRuleset, type Ruleset } from '../../../../rules/ruleset.ts';
import { verificationKeys } from '../../../../store/keys/signing-keys.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import { rulesetKey } from '../../../../store/rule-book/ruleset-objects.ts';
import type { ServiceStore } from '../../../environment.ts';

/**
 * A base can be compiled anew, and its former file erased, between the question for its name and its reading; and it can
 * be signed with a key that this isolate has not read yet.
 */
const TRIES_MAX = 3;

/** @throws Error where the files cannot be read: the caller's request then fails as any other fault of the service. */
export async function currentRules(store: ServiceStore, instanceId: string, nowMs: number): Promise<Ruleset> {
  let fault = '';
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const read = await readRules(store, instanceId, nowMs, tries > 0);
    if (read.ok) return read.value;
    fault = read.error;
  }
  throw new Error(`The compiled rules cannot be read: ${fault}`);
}

async function readRules(
  store: ServiceStore,
  instanceId: string,
  nowMs: number,
  freshKeys: boolean,
): Promise<Result<Ruleset, string>> {
  const book = ruleBook(store, instanceId);
  const { base, delta } = await book.currentVersion();
  const [file, changes, stored] = await Promise.all([
    store.RULESETS.get(rulesetKey(instanceId, base.hash)),
    delta.version === base.version ? null : book.delta(base.hash, delta.version),
    verificationKeys(store, 'ruleset', nowMs, freshKeys),
  ]);
  if (file === null) return failed('the base is gone');
  const keys = await importRulesetKeys(
    stored.map(({ kid, publicKeyRaw }) => ({ kid, publicKey: encodeBase64url(publicKeyRaw) })),
  );
  const opened = await openBase(new Uint8Array(await file.arrayBuffer()), base.hash, instanceId, keys);
  if (!opened.ok) return failed(`the base is ${opened.error.kind}`);
  if (delta.version === base.version) return ok(createRuleset(opened.value.snapshot, null));
  if (changes === null) return failed('the changes are gone');
  const over = await openDeltaOver(changes, base.hash, delta.version, instanceId, keys);
  return over.ok ? ok(createRuleset(opened.value.snapshot, over.value)) : failed(`the changes are ${over.error.kind}`);
}
