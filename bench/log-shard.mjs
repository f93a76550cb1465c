/**
 * The shard of `npm run bench -- log`: the real VerdictShard, and beside it what the bench needs of the same object. `load`
 * leaves what sealing leaves (object, manifest, ids, counts) by the code that sealing runs, without the rows having
 * been in the table first; `bareAppend` and `barePage` are the floor: the same bytes in a plain table.
 */
import { HotRows } from '../src/store/event-log/shard/hot-rows.ts';
import { verdictRow } from '../src/store/event-log/log-row.ts';
import { buildSegment } from '../src/store/event-log/shard/segment-build.ts';
import { BLOCK_ROWS } from '../src/store/event-log/segment-block.ts';
import { beginSegment, putSegment, recordSealed } from '../src/store/event-log/shard/segments.ts';
import { VerdictShard as ServiceShard } from '../src/store/event-log/shard/verdict-shard.ts';
import { decisions } from '../src/contract/vocabulary.ts';
import { records } from './log-records.mjs';

export class VerdictShard extends ServiceShard {
  #loading = null;

  /** One segment of the given records. To be followed by `restart`: the shard itself does not see them until then. */
  async load(span) {
    const { storage } = this.ctx;
    const hot = (this.#loading ??= new HotRows(storage));
    const rows = [];
    function* pages() {
      let page = [];
      for (const made of records(span)) {
        const row = verdictRow(made, true);
        hot.pending.add(made, row.timestamp, decisions.indexOf(made.decision));
        page.push({ id: row.id, timestamp: row.timestamp, body: row.body });
        if (page.length < BLOCK_ROWS) continue;
        page.sort(oldestFirst);
        rows.push(...page);
        yield page;
        page = [];
      }
      page.sort(oldestFirst);
      rows.push(...page);
      yield page;
    }
    const built = await buildSegment(pages());
    const segment = beginSegment(storage.sql, this.ctx.id.name, rows.at(-1), hot.lastSeq, Date.now());
    await putSegment(this.env.SEGMENTS, segment.object, built);
    hot.mergePending(() => recordSealed(storage.sql, hot, segment, built, rows));
    return built.rows;
  }

  /** Memory is made from the tables again, as after any restart. */
  async restart() {
    await this.ctx.storage.sync();
    this.ctx.abort('loaded');
  }

  async bareAppend(rows) {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE IF NOT EXISTS bare (ts INTEGER, id TEXT, body TEXT, PRIMARY KEY (ts, id)) WITHOUT ROWID');
    this.ctx.storage.transactionSync(() => {
      for (const { timestamp, id, body } of rows) {
        sql.exec('INSERT INTO bare (ts, id, body) VALUES (?, ?, ?)', timestamp, id, body);
      }
    });
    return { accepted: rows.length, duplicates: 0 };
  }

  async barePage(limit) {
    return this.ctx.storage.sql.exec('SELECT body FROM bare ORDER BY ts DESC, id DESC LIMIT ?', limit).toArray();
  }
}

function oldestFirst(a, b) {
  return a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1);
}
