/**
 * Erases one session: its rows, unsealed and sealed, and its part of the counts. In the captcha stream
 * these are the captcha with this jti and the captchas solved in this session. Affected segments are rewritten under
 * another key, and the old objects are deleted. The ids stay stored, so that a late copy of an erased record is not
 * stored again.
 */
import { Aggregate } from '../rollup-aggregate.ts';
import type { HotRows } from './hot-rows.ts';
import { logRecord } from '../log-record.ts';
import { deleteDoomed, doom } from './doomed-objects.ts';
import { decisions } from '../../../contract/vocabulary.ts';
import { eraseHot } from './erase-hot.ts';
import { readRowGroup } from '../parquet/row-group-reader.ts';
import { schemaOf } from '../parquet/schema-of.ts';
import { readSegmentFooter } from '../parquet/segment-footer.ts';
import { nextRevision } from '../segment-key.ts';
import { buildSegment } from './segment-build.ts';
import { segmentsWithKey } from '../columns/key-lookup.ts';
import { putSegment, recordManifest, segmentSource } from './segments.ts';
import type { StoredRow } from '../log-row.ts';

export async function eraseSessionRows(
  storage: DurableObjectStorage,
  hot: HotRows,
  bucket: R2Bucket,
  shardName: string,
  jti: string,
): Promise<number> {
  const { sql } = storage;
  let erased = eraseHot(sql, hot, jti);
  for (const segment of segmentsWithKey(sql, 'jti', jti)) {
    erased += await eraseSealed(sql, hot, bucket, shardName, segment, jti);
  }
  await deleteDoomed(sql, bucket);
  return erased;
}

async function eraseSealed(
  sql: SqlStorage,
  hot: HotRows,
  bucket: R2Bucket,
  shardName: string,
  segment: number,
  jti: string,
): Promise<number> {
  const [known] = sql.exec<{ object: string }>(
    "SELECT object FROM segments WHERE no = ? AND state = 'sealed'",
    segment,
  );
  if (!known) return 0;
  const sealed = await bucket.get(known.object);
  if (!sealed) throw new Error(`Sealed segment ${known.object} is not in the bucket`);
  const bytes = new Uint8Array(await sealed.arrayBuffer());
  const source = segmentSource(sql, shardName, segment);
  const schema = schemaOf(source.stream);
  const { groups, extras } = readSegmentFooter(bytes);
  const kept: StoredRow[] = [];
  const away = new Aggregate();
  for (const group of groups) {
    for (const body of readRowGroup(schema, bytes.subarray(group.start, group.start + group.length), group, null)) {
      const record = logRecord(body);
      if (record.jti === jti || ('session' in record && record.session === jti))
        away.add(
          record,
          record.timestamp,
          decisions.findIndex((name) => name === record.decision),
          -1,
        );
      else kept.push({ id: record.id, timestamp: record.timestamp, body });
    }
  }
  if (away.rows === 0) return 0;
  const built = await buildSegment(source, kept, extras);
  const object = nextRevision(known.object);
  await putSegment(bucket, object, built);
  hot.mergePending(() => {
    hot.rollups.mergeAggregate(away);
    recordManifest(sql, segment, object, built);
    doom(sql, known.object);
  });
  return away.rows;
}
