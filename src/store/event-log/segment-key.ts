/**
 * Keys of sealed segments in the bucket. Folders are Hive partitions, so that engines find one instance and one day
 * without opening files: `verdicts/instance=inst_1/date=2026-11-20/0-0-00000012.parquet`, named by epoch, shard and
 * number. A rewritten segment has a revision: `….r1.parquet`.
 */

/** Name of the folder of a stream, and of the key that its owner is partitioned by. */
const folders: Readonly<Record<string, readonly [folder: string, key: string]>> = {
  verdicts: ['verdicts', 'instance'],
  captcha: ['captchas', 'account'],
  telemetry: ['telemetry', 'instance'],
};

const NUMBER_DIGITS = 8;

export interface ShardParts {
  stream: string;
  owner: string;
  epoch: string;
  shard: string;
}

/** The parts of `stream/owner:epoch:shard`. */
export function shardParts(shardName: string): ShardParts {
  const [, stream = '', owner = '', epoch = '', shard = ''] = /^([^/]*)\/(.*):([^:]*):([^:]*)$/s.exec(shardName) ?? [];
  return { stream, owner, epoch, shard };
}

export function segmentKey(shardName: string, timestamp: number, no: number): string {
  const { epoch, shard } = shardParts(shardName);
  const date = new Date(timestamp).toISOString().slice(0, 10);
  const number = String(no).padStart(NUMBER_DIGITS, '0');
  return `${ownerFolder(shardName)}date=${date}/${epoch}-${shard}-${number}.parquet`;
}

/** The folder of a log: all its shards and days. */
export function ownerFolder(shardName: string): string {
  const { stream, owner } = shardParts(shardName);
  const [folder, key] = folders[stream] ?? [stream, 'owner'];
  return `${folder}/${key}=${encodeURIComponent(owner)}/`;
}

export interface SegmentFileName {
  epoch: string;
  shard: string;
  no: number;
  revision: number;
  /** Start of its UTC day; epoch milliseconds. */
  day: number;
}

/** `null`: no segment has such a key. */
export function segmentFileName(key: string): SegmentFileName | null {
  const match = /\/date=(\d{4}-\d{2}-\d{2})\/(\d+)-(\d+)-(\d{8})(?:\.r(\d+))?\.parquet$/.exec(key);
  if (match === null) return null;
  const [, date = '', epoch = '', shard = '', no, revision] = match;
  const day = Date.parse(date);
  return Number.isNaN(day) ? null : { epoch, shard, no: Number(no), revision: Number(revision ?? 0), day };
}

/** Whether a key in the log's folder belongs to this shard. */
export function isOfShard(shardName: string, key: string): boolean {
  const name = segmentFileName(key);
  const { epoch, shard } = shardParts(shardName);
  return name !== null && name.epoch === epoch && name.shard === shard;
}

/** A reader under way finds the old object or none. */
export function nextRevision(key: string): string {
  const revision = (segmentFileName(key)?.revision ?? 0) + 1;
  return key.replace(/(?:\.r\d+)?\.parquet$/, `.r${revision}.parquet`);
}
