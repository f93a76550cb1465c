/** Sealing that stops as an object does that is killed: its files are in the bucket, and their manifests are not. */
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
import { Sealer } from '../../src/store/event-log/shard/sealing.ts';

const STOPPED = 'stopped before the manifest';

/** After the first file. `false`: there was nothing to seal. */
export async function stopSealing(
  storage: DurableObjectStorage,
  bucket: R2Bucket,
  shardName: string,
  { segmentRows, nowMs }: { segmentRows: number; nowMs: number },
): Promise<boolean> {
  const put = async (...given: Parameters<R2Bucket['put']>) => {
    await bucket.put(...given);
    throw new Error(STOPPED);
  };
  const sealer = new Sealer(storage.sql, new HotRows(storage), { put } as unknown as R2Bucket, shardName);
  try {
    if (await sealer.sealOne(segmentRows, nowMs)) throw new Error('It was sealed, and did not stop');
    return false;
  } catch (error) {
    if (error instanceof Error && error.message === STOPPED) return true;
    throw error;
  }
}
