/**
 * The real log shard, which a bench can fill quickly: `loadSegment` leaves what sealing leaves (object, manifest,
 * counts), written by the code that sealing runs. The rows were never in a batch.
 */
import { logRecord, outcomeOf } from '../../src/store/event-log/log-record.ts';
import { compareNewestFirst, type StoredRow } from '../../src/store/event-log/log-row.ts';
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
import { buildSegment } from '../../src/store/event-log/shard/segment-build.ts';
import { beginSegments, putSegment, recordManifest, segmentSource } from '../../src/store/event-log/shard/segments.ts';
import { VerdictShard } from '../../src/store/event-log/shard/verdict-shard.ts';

export class LoadedShard extends VerdictShard {
  #loading: HotRows | null = null;

  /** Call `restart` afterwards: the shard keeps counts in memory and does not see the rows until then. */
  protected async loadSegment(given: Iterable<StoredRow>): Promise<number> {
    const { storage } = this.ctx;
    const hot = (this.#loading ??= new HotRows(storage));
    const rows = [...given].sort((a, b) => compareNewestFirst(b, a));
    const newest = rows.at(-1);
    if (newest === undefined) return 0;
    for (const { body, timestamp } of rows) {
      const record = logRecord(body);
      hot.pending.add(record, timestamp, outcomeOf(record.decision));
    }
    const name = this.ctx.id.name ?? '';
    const [segment] = beginSegments(storage.sql, name, [newest.timestamp], '', Date.now());
    if (segment === undefined) return 0;
    const built = await buildSegment(segmentSource(storage.sql, name, segment.no), rows);
    await putSegment(this.env.SEGMENTS, segment.object, built);
    hot.mergePending(() => recordManifest(storage.sql, segment.no, segment.object, built));
    return built.rows;
  }

  /** Ends the object. The next call rebuilds its memory from the tables, as after any restart. */
  async restart(): Promise<void> {
    await this.ctx.storage.sync();
    this.ctx.abort('loaded');
  }
}

/** The call fails because the object ends while it runs. */
export async function restarted(shard: { restart(): Promise<void> }): Promise<void> {
  await shard.restart().catch(() => undefined);
}
