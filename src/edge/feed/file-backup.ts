/**
 * The scheduled run's other half: copies the files of this release to KV, so that an outage of the service, or a service of
 * another release, does not take languages and scripts away from a running edge. One list says what is stored; it is read
 * once a run, and nothing is written without a change.
 */
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { type ClientFiles, fileName } from './client-files.ts';
import type { KvStore } from './kv.ts';

const LIST = 'files';

/** True when KV holds every file afterwards. */
export async function backUpFiles(files: ClientFiles, kv: KvStore): Promise<boolean> {
  const before = storedList(await kv.get(LIST));
  const stored = new Map(before);
  let complete = true;
  for (const [name, hash] of files.fetched) {
    if (stored.get(name) === hash) continue;
    const file = await files.fetch(name, hash);
    if (file.ok && (await kv.put(fileName(name, hash), file.value))) stored.set(name, hash);
    else complete = false;
  }
  const replaced = [...before].filter(([name, hash]) => stored.get(name) !== hash);
  const isChanged = replaced.length > 0 || stored.size !== before.size;
  if (!isChanged) return complete;
  const list = new TextEncoder().encode(JSON.stringify(Object.fromEntries(stored)));
  if (!(await kv.put(LIST, list as Uint8Array<ArrayBuffer>))) return false;
  for (const [name, hash] of replaced) await kv.delete(fileName(name, hash));
  return complete;
}

function storedList(bytes: Uint8Array | null): Map<string, string> {
  const list = parseJson(bytes);
  const entries = isJsonObject(list) ? Object.entries(list) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
