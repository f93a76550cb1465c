/**
 * The real log shard, which a bench can fill quickly: `loadSegment` leaves what sealing leaves (object, manifest, ids,
 * counts), written by the code that sealing runs. The rows were never in the table of unsealed rows.
 */
import type { LogRecord } from '../../src/store/event-log/log-record.ts';
import { compareNewestFirst } from '../../src/store/event-log/log-row.ts';
import type { LogRow, StoredRow } from '../../src/store/event-log/log-row.ts';
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
import { buildSegment } from '../../src/store/event-log/shard/segment-build.ts';
import { beginSegment, putSegment, recordSealed, segmentSource } from '../../src/store/event-log/shard/segments.ts';
import { VerdictShard } from '../../src/store/event-log/shard/verdict-shard.ts';

export class LoadedShard extends VerdictShard {
  #loading: HotRows | null = null;

  /** Call `restart` afterwards: the shard keeps counts in memory and does not see the rows until then. */
  protected async loadSegment(given: Iterable<{ row: LogRow; record: LogRecord }>): Promise<number> {
    const { storage } = this.ctx;
    const hot = (this.#loading ??= new HotRows(storage));
    const rows: StoredRow[] = [];
    for (const { row, record } of given) {
      hot.pending.add(record, row.timestamp, row.outcome);
      rows.push({ id: row.id, timestamp: row.timestamp, body: row.body });
    }
    rows.sort((a, b) => compareNewestFirst(b, a));
    const newest = rows.at(-1);
    if (newest === undefined) return 0;
    const name = this.ctx.id.name ?? '';
    const segment = beginSegment(storage.sql, name, newest, hot.lastSeq, Date.now());
    const built = await buildSegment(segmentSource(name, segment.no), rows);
    await putSegment(this.env.SEGMENTS, segment.object, built);
    hot.mergePending(() => recordSealed(storage.sql, hot, segment, built, rows));
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
