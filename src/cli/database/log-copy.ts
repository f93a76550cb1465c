/**
 * `gatehouse log copy DIR`: the sealed log of a local stack as Parquet files, under the keys that they have in the
 * bucket. The copy follows the bucket: what is there already stays, and what was erased or has expired is removed. Of a
 * deployed bucket, rclone or DuckDB itself reads the files.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { CommandError } from '../command-line.ts';

/** Only keys and files of this form are copied or removed: the folder may hold other files. */
const LAYOUT =
  /^(?:verdicts|captchas|telemetry)\/(?:instance|account)=[\w-]+\/date=\d{4}-\d\d-\d\d\/[\w-][\w.-]*\.parquet$/;

/** What a copy needs of the bucket. */
export interface SegmentBucket {
  list(options: {
    cursor?: string;
  }): Promise<{ objects: readonly { key: string; size: number }[]; truncated: boolean; cursor?: string }>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
}

export interface LogCopy {
  copied: number;
  unchanged: number;
  removed: number;
  bytes: number;
}

/** `seen`: called with the files that are done, and all. */
export async function copyLog(
  bucket: SegmentBucket | undefined,
  dir: string,
  seen: (done: number, total: number) => void = () => {},
): Promise<LogCopy> {
  if (bucket === undefined)
    throw new CommandError('log copy reads a local stack. Copy a deployed bucket with rclone: docs/query-the-log.md.');
  const objects = await logObjects(bucket);
  const copy: LogCopy = { copied: 0, unchanged: 0, removed: 0, bytes: 0 };
  try {
    for (const [key, bytes] of objects) {
      copy.bytes += bytes;
      const path = join(dir, key);
      // An object is never written twice with other content, so a file of this name and size is the same.
      if (statSync(path, { throwIfNoEntry: false })?.size === bytes) copy.unchanged++;
      else if (await copyObject(bucket, key, path)) copy.copied++;
      seen(copy.copied + copy.unchanged, objects.size);
    }
    for (const key of filesIn(dir)) {
      if (objects.has(key)) continue;
      rmSync(join(dir, key));
      copy.removed++;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw new CommandError(`${dir} cannot be written. ${error.message}`);
    throw error;
  }
  return copy;
}

/** Key and size of every segment. */
async function logObjects(bucket: SegmentBucket): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let cursor: string | undefined;
  do {
    const page = await bucket.list(cursor === undefined ? {} : { cursor });
    for (const { key, size } of page.objects) if (LAYOUT.test(key)) found.set(key, size);
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return found;
}

/** `false`: the object was erased meanwhile. Readers never find half a file under its name. */
async function copyObject(bucket: SegmentBucket, key: string, path: string): Promise<boolean> {
  const object = await bucket.get(key);
  if (object === null) return false;
  mkdirSync(dirname(path), { recursive: true });
  const partial = `${path}.partial`;
  writeFileSync(partial, new Uint8Array(await object.arrayBuffer()));
  renameSync(partial, path);
  return true;
}

function filesIn(dir: string): string[] {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll(sep, '/'));
  return names.filter((name) => LAYOUT.test(name));
}
