/**
 * Hashes of an isolate's last merged records, by their numbers, in one value of the database: 4 bytes each, and 12 for
 * every run of numbers. They tell a late copy from another record with the same number. Older ones are let go.
 */

/** 8 kB an isolate. */
const HASHES_MAX = 2048;
const HEAD_BYTES = 12;

/** Hashes of consecutive numbers. */
export interface HashRun {
  first: number;
  hashes: Uint32Array;
}

/** The last of these runs, oldest first, that fit. */
export function packHashes(runs: readonly HashRun[]): Uint8Array {
  let room = HASHES_MAX;
  const kept: HashRun[] = [];
  for (const run of runs.toReversed()) {
    if (room === 0) break;
    const cut = Math.max(run.hashes.length - room, 0);
    kept.unshift({ first: run.first + cut, hashes: run.hashes.subarray(cut) });
    room -= run.hashes.length - cut;
  }
  const bytes = new Uint8Array(kept.reduce((sum, { hashes }) => sum + HEAD_BYTES + 4 * hashes.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { first, hashes } of kept) {
    view.setFloat64(at, first);
    view.setUint32(at + 8, hashes.length);
    hashes.forEach((hash, index) => view.setUint32(at + HEAD_BYTES + 4 * index, hash));
    at += HEAD_BYTES + 4 * hashes.length;
  }
  return bytes;
}

export function unpackHashes(data: ArrayBuffer): HashRun[] {
  const view = new DataView(data);
  const runs: HashRun[] = [];
  for (let at = 0; at < data.byteLength;) {
    const hashes = new Uint32Array(view.getUint32(at + 8));
    for (let index = 0; index < hashes.length; index++) hashes[index] = view.getUint32(at + HEAD_BYTES + 4 * index);
    runs.push({ first: view.getFloat64(at), hashes });
    at += HEAD_BYTES + 4 * hashes.length;
  }
  return runs;
}
