/**
 * A shard whose captchas were sealed before there were runs: the first search writes their columns anew, and finds
 * what is there.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { appendCaptchas, searchCaptchas } from '../../src/store/event-log/client/captcha-log.ts';
import { mergeCaptcha } from '../../src/store/event-log/captcha-record.ts';
import type { CaptchaEvent, CaptchaRecord } from '../../src/store/event-log/captcha-record.ts';
import { captchaFields } from '../../src/store/event-log/columns/columns.ts';
import { dropRuns } from '../../src/store/event-log/shard/runs.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { plainFacts } from './service/captcha-events.ts';

const service = env as ServiceEnv;
const ROWS = 900;
const PART_ROWS = 400;
const start = Date.now() - 5 * 3_600_000;

function issued(account: string, number: number): CaptchaEvent {
  return {
    event: 'issued',
    jti: number.toString(16).padStart(6, '0').padEnd(32, '3'),
    account_id: account,
    site_key: 'site-1',
    timestamp: start + number,
    captcha_type: 'pow',
    facts: { ...plainFacts, ip: `192.0.2.${number % 7}`, user_account: number % 3 === 0 ? `"${number}"` : null },
  };
}

/** Length of the dictionary, rows, dictionary, an index per row of one byte or two. */
function oldColumn(texts: readonly string[], indexes: Uint16Array): Uint8Array {
  const dictionary = new TextEncoder().encode(texts.join('\n'));
  const tail = texts.length <= 256 ? Uint8Array.from(indexes) : new Uint8Array(indexes.buffer);
  const head = new Uint8Array(Uint32Array.of(dictionary.length, indexes.length).buffer);
  return Uint8Array.of(...head, ...dictionary, ...tail);
}

/** As the shard kept them before: columns of some rows each, by segment, part and field. */
function writeOldColumns(sql: SqlStorage, segment: number, records: readonly CaptchaRecord[]): void {
  sql.exec(`CREATE TABLE IF NOT EXISTS captcha_parts (
    segment INTEGER NOT NULL, no INTEGER NOT NULL, rows INTEGER NOT NULL, min_ts INTEGER NOT NULL,
    max_ts INTEGER NOT NULL, max_id TEXT NOT NULL, PRIMARY KEY (segment, no)) WITHOUT ROWID`);
  sql.exec(`CREATE TABLE IF NOT EXISTS captcha_columns (
    segment INTEGER NOT NULL, part INTEGER NOT NULL, field INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (segment, part, field)) WITHOUT ROWID`);
  for (let no = 0; no * PART_ROWS < records.length; no++) {
    const rows = records.slice(no * PART_ROWS, (no + 1) * PART_ROWS);
    const [oldest, newest] = [rows[0] as CaptchaRecord, rows.at(-1) as CaptchaRecord];
    const times = [oldest.timestamp, newest.timestamp, newest.id];
    sql.exec('INSERT INTO captcha_parts VALUES (?, ?, ?, ?, ?, ?)', segment, no, rows.length, ...times);
    for (const [field, name] of captchaFields.entries()) {
      const texts = [...new Set(rows.map((row) => JSON.stringify(row[name])))];
      const indexes = Uint16Array.from(rows, (row) => texts.indexOf(JSON.stringify(row[name])));
      sql.exec('INSERT INTO captcha_columns VALUES (?, ?, ?, ?)', segment, no, field, oldColumn(texts, indexes));
    }
  }
}

test.each(['search', 'erase'] as const)(
  'captchas in the old columns are all there after the first %s',
  async (first) => {
    const account = `captcha-upgrade-${first}`;
    const name = `captcha/${account}:0:0`;
    const log = shard(service, name);
    const events = Array.from({ length: ROWS }, (_, number) => issued(account, number));
    for (let at = 0; at < ROWS; at += 450) await appendCaptchas(service, events.slice(at, at + 450));
    let records = events.map((event) => mergeCaptcha(null, event));
    await log.tune({ hotRowsMax: 1_000_000, segmentRows: 600 });
    await log.seal();
    await log.seal();
    const stub = service.VERDICT_SHARD.get(service.VERDICT_SHARD.idFromName(name));
    await runInDurableObject(stub, (_, { storage }) => {
      dropRuns(storage.sql, 1);
      dropRuns(storage.sql, 2);
      writeOldColumns(storage.sql, 1, records.slice(0, 600));
      writeOldColumns(storage.sql, 2, records.slice(600));
    });
    await evictDurableObject(stub);
    if (first === 'erase') {
      expect(await log.erase((records[700] as CaptchaRecord).jti)).toBe(1);
      records = records.filter((_, number) => number !== 700);
    }
    const query = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null };
    const question = { ...query, conditions: [{ field: 'ip' as const, is: '192.0.2.3' }] };
    const found = await searchCaptchas(service, account, question, null, 1000);
    expect(found.records).toEqual(records.filter(({ ip }) => ip === '192.0.2.3').toReversed());
    expect(found).toMatchObject({ total: found.records.length, totalIsExact: true });
    const left = await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name IN ('captcha_parts', 'captcha_columns')").toArray(),
    );
    expect(left).toEqual([]);
  },
);
