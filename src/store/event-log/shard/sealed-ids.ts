/**
 * Ids of sealed rows, kept in full while a copy of a record may still arrive, so that a late duplicate is recognised
 * without reading R2. Each entry has 16 bytes of id and 4 bytes of hash of its body. Entries are sorted, in chunks by
 * the time in the id, ten minutes per bucket.
 */
import { textHash } from '../../text-hash.ts';

const ID_BYTES = 16;
const ENTRY_BYTES = ID_BYTES + 4;
const CHUNK_ENTRIES = 2048;
/** Even at 10,000 verdicts a second, only a few hundred segments share a bucket. */
const BUCKET_MS = 600_000;

export interface SealedRow {
  id: string;
  timestamp: number;
  body: string;
}

/** Runs inside the transaction that seals or erases these rows. */
export function recordSealedIds(sql: SqlStorage, segment: number, rows: readonly SealedRow[]): void {
  const buckets = new Map<number, SealedRow[]>();
  for (const row of rows) {
    const bucket = bucketOf(row.id);
    const members = buckets.get(bucket);
    if (members) members.push(row);
    else buckets.set(bucket, [row]);
  }
  for (const [bucket, members] of buckets) {
    members.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (let start = 0; start < members.length; start += CHUNK_ENTRIES) {
      writeChunk(sql, bucket, segment, members.slice(start, start + CHUNK_ENTRIES));
    }
  }
}

function writeChunk(sql: SqlStorage, bucket: number, segment: number, rows: readonly SealedRow[]): void {
  const data = new Uint8Array(rows.length * ENTRY_BYTES);
  const view = new DataView(data.buffer);
  rows.forEach((row, index) => {
    data.set(idBytes(row.id), index * ENTRY_BYTES);
    view.setUint32(index * ENTRY_BYTES + ID_BYTES, textHash(row.body));
  });
  sql.exec(
    `INSERT INTO sealed_ids (bucket, segment, chunk, first_id, last_id, newest_ts, data)
     SELECT ?1, ?2, COALESCE(MAX(chunk) + 1, 0), ?3, ?4, ?5, ?6 FROM sealed_ids WHERE bucket = ?1 AND segment = ?2`,
    bucket,
    segment,
    (rows[0] as SealedRow).id,
    (rows.at(-1) as SealedRow).id,
    rows.reduce((newest, row) => Math.max(newest, row.timestamp), 0),
    data,
  );
}

/** The hash of a sealed row's body, or `null` when the id is not sealed. */
export function sealedBodyHash(sql: SqlStorage, id: string): number | null {
  const wanted = idBytes(id);
  for (const { data } of sql.exec<{ data: ArrayBuffer }>(
    'SELECT data FROM sealed_ids WHERE bucket = ?1 AND first_id <= ?2 AND last_id >= ?2',
    bucketOf(id),
    id,
  )) {
    const bytes = new Uint8Array(data);
    const at = find(bytes, wanted);
    if (at !== null) return new DataView(data).getUint32(at + ID_BYTES);
  }
  return null;
}

/** The 48 bits of milliseconds at the beginning of a UUIDv7. Any other id has a number there too. */
export function idMoment(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function bucketOf(id: string): number {
  return Math.floor(idMoment(id) / BUCKET_MS);
}

function find(bytes: Uint8Array, wanted: Uint8Array): number | null {
  let low = 0;
  let high = bytes.length / ENTRY_BYTES - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = compareAt(bytes, middle * ENTRY_BYTES, wanted);
    if (order === 0) return middle * ENTRY_BYTES;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}

function compareAt(bytes: Uint8Array, at: number, wanted: Uint8Array): number {
  for (let index = 0; index < ID_BYTES; index++) {
    const difference = (bytes[at + index] as number) - (wanted[index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function idBytes(id: string): Uint8Array {
  const hex = id.replaceAll('-', '');
  const bytes = new Uint8Array(ID_BYTES);
  for (let index = 0; index < ID_BYTES; index++) {
    bytes[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}
