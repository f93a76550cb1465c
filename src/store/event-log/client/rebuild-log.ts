/**
 * Rebuilds a log from its objects in the bucket, in steps: the first empties what the shards derived from sealed
 * segments, each reads some objects again, and the last finishes. A step that is repeated changes nothing.
 */
import { ownerFolder, segmentFileName } from '../segment-key.ts';
import type { ShardSettings, SkippedObject } from '../shard-rpc.ts';
import { allShardNames, type LogName, shard, type ShardEnv } from './shards.ts';

/** Bytes that one step reads: 200,000 rows, about five seconds of one shard. */
const STEP_BYTES_MAX = 8_000_000;
const STEP_SEGMENTS_MAX = 100;

export interface RebuildStep {
  segments: number;
  rows: number;
  skipped: SkippedObject[];
  /** Segments that are not read yet. `null`: more than a listing of the bucket has. */
  segmentsLeft: number | null;
  /** `null`: the log is complete. */
  next: string | null;
}

interface Revisions {
  /** In rising order of their keys. */
  objects: R2Object[];
  last: R2Object;
}

/** `after`: the `next` of the step before; `null`: the first step. `settings`: what a lost shard knew from appends. */
export async function rebuildStep(
  env: ShardEnv,
  log: LogName,
  settings: ShardSettings,
  after: string | null,
): Promise<RebuildStep> {
  const names = allShardNames(env, log);
  const folder = ownerFolder(names[0] as string);
  if (after === null) await Promise.all(names.map((name) => shard(env, name).beginRebuild(settings)));
  const listed = await env.SEGMENTS.list({ prefix: folder, ...(after === null ? {} : { startAfter: after }) });
  const all = revisionsOf(listed.objects);
  // The last segment of a page may have more revisions on the next page.
  const whole = listed.truncated && all.length > 1 ? all.slice(0, -1) : all;
  const step = boundedStep(whole);
  const skipped: SkippedObject[] = [];
  const byShard = new Map<string, string[]>();
  for (const { objects } of step) {
    const newest = newestOf(objects);
    for (const { key } of objects) {
      const name = segmentFileName(key);
      const owner = name && `${log.stream}/${log.owner}:${name.epoch}:${name.shard}`;
      if (owner === null) skipped.push({ object: key, reason: 'Its name is not that of a segment' });
      else if (!names.includes(owner)) skipped.push({ object: key, reason: 'VERDICT_SHARDS has no such shard' });
      else if (key !== newest) skipped.push({ object: key, reason: `It was replaced by ${newest}` });
      else byShard.set(owner, [...(byShard.get(owner) ?? []), key]);
    }
  }
  const read = await Promise.all([...byShard].map(([name, objects]) => shard(env, name).rebuild(objects)));
  const isOver = step.length === all.length && !listed.truncated;
  if (isOver) await Promise.all(names.map((name) => shard(env, name).endRebuild()));
  return {
    segments: read.reduce((sum, { segments }) => sum + segments, 0),
    rows: read.reduce((sum, { rows }) => sum + rows, 0),
    skipped: [...skipped, ...read.flatMap((one) => one.skipped)],
    segmentsLeft: listed.truncated ? null : all.length - step.length,
    next: isOver ? null : (step.at(-1) as Revisions).last.key,
  };
}

/** Revisions of a segment follow each other in a listing. */
function revisionsOf(listed: readonly R2Object[]): Revisions[] {
  const segments: Revisions[] = [];
  for (const object of listed) {
    const former = segments.at(-1);
    if (former && segmentOf(former.last.key) === segmentOf(object.key)) {
      former.objects.push(object);
      former.last = object;
    } else segments.push({ objects: [object], last: object });
  }
  return segments;
}

/** The key without its revision. A file that is no segment is alone. */
function segmentOf(key: string): string {
  return segmentFileName(key) === null ? key : key.replace(/(?:\.r\d+)?\.parquet$/, '');
}

function newestOf(objects: readonly R2Object[]): string {
  const revisions = objects.map(({ key }) => ({ key, revision: segmentFileName(key)?.revision ?? 0 }));
  return revisions.reduce((newest, one) => (one.revision > newest.revision ? one : newest)).key;
}

function boundedStep(segments: readonly Revisions[]): Revisions[] {
  const step: Revisions[] = [];
  let bytes = 0;
  for (const segment of segments.slice(0, STEP_SEGMENTS_MAX)) {
    bytes += segment.last.size;
    if (step.length > 0 && bytes > STEP_BYTES_MAX) break;
    step.push(segment);
  }
  return step;
}
