/** The scheduled run's work: copies the service's current state and its files to KV, only where they differ. */
import { type ConfigSeal, decodePointer, encodePointer, openConfig, partName } from './stored-parts.ts';
import type { KvStore } from './part-stores.ts';
import { importRulesetKeys, openBase, openDeltaOver } from '../../rules/ruleset-files.ts';
import { openBots } from './ruleset-files.ts';
import { type Count, type Upstream, valueOrNull } from './upstream.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import type { EdgeVersion } from '../../contract/edge/edge-responses.ts';
import { filePartName, type ClientFiles } from './client-files.ts';

export interface BackupOptions {
  upstream: Upstream;
  kv: KvStore;
  seal: ConfigSeal;
  count: Count;
}

/** A person who saves several changes at once needs two. */
const ATTEMPTS_MAX = 5;

/**
 * True when KV holds the current state afterwards. A state that changes while it is copied is copied anew: its parts are
 * gone from the service then, and nothing is wrong.
 */
export async function backUpToKv(options: BackupOptions): Promise<boolean> {
  const askVersion = () => options.upstream.version(true);
  let asked = await askVersion();
  for (let attempt = 1; asked.ok; attempt += 1) {
    const version = asked.value;
    if (await copied(version, options)) return true;
    asked = await askVersion();
    const isChanged = asked.ok && JSON.stringify(asked.value) !== JSON.stringify(version);
    if (!isChanged || attempt === ATTEMPTS_MAX) return false;
  }
  return false;
}

/**
 * The pointer is written last, so that a reader never finds a pointer to missing parts; parts that nothing points to are
 * deleted after it.
 */
async function copied(version: EdgeVersion, { upstream, kv, seal, count }: BackupOptions): Promise<boolean> {
  const stored = valueOrNull(decodePointer(await kv.get(partName.pointer)));
  const { base, delta, configVersion } = version;
  const sameVersion = stored?.configVersion === configVersion;
  // A config sealed under a replaced client JWT does not open for isolates that start from now on.
  const sameConfig = sameVersion && (await openConfig(await kv.get(partName.config(configVersion)), seal)).ok;
  const sameBase = stored?.base.hash === base.hash;
  const sameDelta = sameBase && stored?.delta.version === delta.version;
  const sameBots = stored?.bots?.hash === version.bots?.hash;
  if (sameConfig && sameDelta && sameBots) return true;

  const answer = await upstream.config();
  // It changed between the two answers.
  if (!answer.ok || answer.value.config.configVersion !== configVersion) return false;
  const { config, json } = answer.value;
  const keys = await importRulesetKeys(config.rulesetKeys);
  if (!sameBase) {
    const file = await upstream.base(base.hash);
    // It did not come, or another one took its place.
    if (!file.ok) return false;
    if (!(await openBase(file.value, base.hash, config.instanceId, keys)).ok) {
      await upstream.refused?.(base.hash);
      return refused();
    }
    if (!(await kv.put(partName.base(base.hash), file.value))) return false;
  }
  if (!sameDelta && delta.version !== base.version) {
    const file = await upstream.delta(base.hash, delta.version);
    if (!file.ok) return false;
    if (!(await openDeltaOver(file.value, base.hash, delta.version, config.instanceId, keys)).ok) return refused();
    if (!(await kv.put(partName.delta(base.hash, delta.version), file.value))) return false;
  }
  if (!sameConfig && !(await kv.put(partName.config(configVersion), await seal.seal(json)))) return false;
  // Rules are worth keeping without bots: a table that is refused leaves the stored one where it is.
  const complete = sameBots || (await keepBots());
  const bots = complete ? version.bots : stored?.bots;
  if (!(await kv.put(partName.pointer, encodePointer({ ...version, bots: bots ?? null })))) return false;

  if (stored && !sameVersion) await kv.delete(partName.config(stored.configVersion));
  if (stored && !sameBase) await kv.delete(partName.base(stored.base.hash));
  if (stored && !sameDelta) await kv.delete(partName.delta(stored.base.hash, stored.delta.version));
  if (stored?.bots && stored.bots.hash !== bots?.hash) await kv.delete(partName.bots(stored.bots.hash));
  return complete;

  async function keepBots(): Promise<boolean> {
    if (!version.bots) return true;
    const { hash } = version.bots;
    const file = await upstream.bots?.(hash);
    if (!file?.ok) return false;
    if (!(await openBots(file.value, hash, keys)).ok) return refused();
    return kv.put(partName.bots(hash), file.value);
  }

  function refused(): false {
    count('rulesets_refused{from="backup"}');
    return false;
  }
}

const FILE_LIST = 'files';

/**
 * Copies the files of this release, so that an outage of the service, or a service of another release, does not take
 * languages and scripts away from a running edge. One list says what is stored; it is read once a run. True when KV holds
 * every file afterwards.
 */
export async function backUpFiles(files: ClientFiles, kv: KvStore): Promise<boolean> {
  const before = storedList(await kv.get(FILE_LIST));
  const stored = new Map(before);
  let complete = true;
  for (const [name, hash] of files.fetched) {
    if (stored.get(name) === hash) continue;
    const file = await files.fetch(name, hash);
    if (file.ok && (await kv.put(filePartName(name, hash), file.value))) stored.set(name, hash);
    else complete = false;
  }
  const replaced = [...before].filter(([name, hash]) => stored.get(name) !== hash);
  const isChanged = replaced.length > 0 || stored.size !== before.size;
  if (!isChanged) return complete;
  const list = new TextEncoder().encode(JSON.stringify(Object.fromEntries(stored)));
  if (!(await kv.put(FILE_LIST, list as Uint8Array<ArrayBuffer>))) return false;
  for (const [name, hash] of replaced) await kv.delete(filePartName(name, hash));
  return complete;
}

function storedList(bytes: Uint8Array | null): Map<string, string> {
  const list = parseJson(bytes);
  const entries = isJsonObject(list) ? Object.entries(list) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
