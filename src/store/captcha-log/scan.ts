/**
 * A shard's share of an audit search, in one synchronous step of bounded length: first all hot rows,
 * then so many parts of the columns, newest first. The Worker asks for the next step; between two of
 * them the shard appends.
 */
import { everything, hotCondition } from '../verdict-log/filter.ts';
import type { RowFilter } from '../verdict-log/filter.ts';
import type { HotKeys } from '../verdict-log/hot-keys.ts';
import { compareNewestFirst } from '../verdict-log/row.ts';
import type { RowKey, StoredRow } from '../verdict-log/row.ts';
import { captchaStatuses } from './captcha-record.ts';
import { columnOf, rowsOf } from './columns.ts';
import type { CaptchaColumn, CaptchaField, CaptchaPart } from './columns.ts';
import { bodyFragment, cheapestFirst, fieldTests, fieldText } from './conditions.ts';
import type { CaptchaCondition, FieldTest } from './conditions.ts';

/** Hot rows whose body is looked into: about 100 ms. */
const HOT_BODIES_MAX = 100_000;
/** Parts per step: 100,000 rows by a column or two, 40,000 by all of them; either about 20 ms. */
const STEP_PARTS = 50;
const STEP_PARTS_EVERY_FIELD = 20;

export interface CaptchaScan {
  conditions: readonly CaptchaCondition[];
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  /** Rows older than this are wanted; counted are all. */
  before: RowKey | null;
  limit: number;
  /** `false`: what is not older than `before` need not be looked at. */
  counts: boolean;
  /** `null`: the first step. */
  from: ScanPlace | null;
}

export interface ScanPlace {
  /** Newest row of the part that was looked at last; `null`: none yet. */
  after: RowKey | null;
  /** What is sealed after the first step was among its hot rows. */
  lastSegment: number;
}

export interface CaptchaScanAnswer {
  /** Newest first. */
  rows: StoredRow[];
  counted: number;
  /** How many rows this step looked at. */
  seen: number;
  /** Hot rows older than this were not looked at. */
  hotEdge: RowKey | null;
  next: ScanPlace | null;
}

export function scanCaptchas(sql: SqlStorage, keys: HotKeys, scan: CaptchaScan): CaptchaScanAnswer {
  const answer: CaptchaScanAnswer = { rows: [], counted: 0, seen: 0, hotEdge: null, next: null };
  const place = scan.from ?? firstPlace(sql);
  if (scan.from === null) scanHot(sql, keys, scan, answer);
  scanParts(sql, scan, place, answer);
  return answer;
}

function firstPlace(sql: SqlStorage): ScanPlace {
  const { no } = sql.exec<{ no: number }>('SELECT COALESCE(MAX(segment), 0) AS no FROM captcha_parts').one();
  return { after: null, lastSegment: no };
}

function scanHot(sql: SqlStorage, keys: HotKeys, scan: CaptchaScan, answer: CaptchaScanAnswer): void {
  const filter = hotFilter(scan);
  const matching = keys.matching(filter);
  if (matching?.length === 0) return;
  const { where, bindings } = hotCondition(filter, matching);
  const parts = [where];
  for (const condition of scan.conditions) {
    const fragment = bodyFragment(condition);
    if (fragment === null || isColumn(condition)) continue;
    parts.push('instr(body, ?) > 0');
    bindings.push(fragment);
  }
  const all = parts.join(' AND ');
  const older = scan.before ? ' AND (ts, id) < (?, ?)' : '';
  const olderBindings = scan.before ? [scan.before.timestamp, scan.before.id] : [];
  const inBodies = scan.conditions.filter((condition) => bodyFragment(condition) === null).map(fieldTests);
  if (inBodies.length === 0) {
    const count = `SELECT COUNT(*) AS n FROM verdicts WHERE ${all}`;
    if (scan.counts && parts.length === 1) answer.counted = keys.count(filter);
    else if (scan.counts) answer.counted = sql.exec<{ n: number }>(count, ...bindings).one().n;
    if (scan.limit === 0) return;
    const rows = `SELECT id, ts AS timestamp, body FROM verdicts WHERE ${all}${older} ORDER BY ts DESC, id DESC LIMIT ?`;
    answer.rows = sql.exec<StoredRow & Stored>(rows, ...bindings, ...olderBindings, scan.limit).toArray();
    return;
  }
  const bodies = sql.exec<StoredRow & Stored>(
    `SELECT id, ts AS timestamp, body FROM verdicts WHERE ${all}${scan.counts ? '' : older}
     ORDER BY ts DESC, id DESC LIMIT ?`,
    ...bindings,
    ...(scan.counts ? [] : olderBindings),
    HOT_BODIES_MAX,
  );
  for (const row of bodies) {
    answer.seen += 1;
    if (answer.seen === HOT_BODIES_MAX) answer.hotEdge = { timestamp: row.timestamp, id: row.id };
    if (!inBodies.every((tests) => bodyPasses(tests, row.body))) continue;
    if (scan.counts) answer.counted += 1;
    if (answer.rows.length < scan.limit && isOlder(row, scan.before)) answer.rows.push(row);
    else if (!scan.counts) break;
  }
}

type Stored = Record<string, SqlStorageValue>;

/** Conditions on `fields` would look for each; one look at the whole body rules most rows out. */
function bodyPasses(tests: readonly FieldTest[], body: string): boolean {
  if (tests.length > 1 && !tests[0]?.mayPass(body)) return false;
  return tests.some((test) => test.passes(fieldText(body, test.field)));
}

/** The conditions that columns of the table hold, and the keys in memory. */
function hotFilter({ conditions, since, until }: CaptchaScan): RowFilter {
  const filter = { ...everything, since, until };
  for (const condition of conditions) {
    if (!('is' in condition) || typeof condition.is !== 'string') continue;
    const { field, is } = condition;
    if (field === 'ip') filter.ip = is;
    if (field === 'jti') filter.jti = is;
    if (field === 'site_key') filter.path = { text: is, prefix: false };
    if (field === 'captcha_type') filter.sources = [is];
    if (field === 'device_type') filter.devices = [is];
    if (field === 'status') filter.outcomes = [captchaStatuses.findIndex((status) => status === is)];
  }
  return filter;
}

const columnFields: readonly CaptchaField[] = ['ip', 'jti', 'site_key', 'captcha_type', 'device_type', 'status'];

function isColumn(condition: CaptchaCondition): boolean {
  return 'is' in condition && columnFields.includes(condition.field);
}

function scanParts(sql: SqlStorage, scan: CaptchaScan, place: ScanPlace, answer: CaptchaScanAnswer): void {
  const conditions = cheapestFirst(scan.conditions).map(fieldTests);
  const step = conditions.some((tests) => tests.length > 1) ? STEP_PARTS_EVERY_FIELD : STEP_PARTS;
  const parts = nextParts(sql, scan, place, step + 1);
  for (const part of parts.slice(0, step)) {
    answer.seen += part.rows;
    const matching = matchingRows(sql, part, scan, conditions);
    if (scan.counts) answer.counted += matching.length;
    const oldestWanted = answer.rows[scan.limit - 1];
    if (scan.limit === 0 || (oldestWanted && compareNewestFirst(oldestWanted, newestOf(part)) < 0)) continue;
    answer.rows = [...answer.rows, ...newestRows(sql, part, matching, scan)]
      .sort(compareNewestFirst)
      .slice(0, scan.limit);
  }
  const last = parts.length > step ? parts[step - 1] : undefined;
  if (last) answer.next = { after: newestOf(last), lastSegment: place.lastSegment };
}

function newestOf(part: CaptchaPart): RowKey {
  return { timestamp: part.maxTs, id: part.maxId };
}

function nextParts(sql: SqlStorage, scan: CaptchaScan, place: ScanPlace, limit: number): CaptchaPart[] {
  const { after, lastSegment } = place;
  const oldest = scan.counts || scan.before === null ? Number.MAX_SAFE_INTEGER : scan.before.timestamp;
  return sql
    .exec<CaptchaPart & Stored>(
      `SELECT segment, no, rows, min_ts AS minTs, max_ts AS maxTs, max_id AS maxId FROM captcha_parts
       WHERE (max_ts, max_id) < (?, ?) AND segment <= ? AND max_ts >= ? AND min_ts < ? AND min_ts <= ?
       ORDER BY max_ts DESC, max_id DESC LIMIT ?`,
      after?.timestamp ?? Number.MAX_SAFE_INTEGER,
      after?.id ?? '',
      lastSegment,
      scan.since,
      scan.until,
      oldest,
      limit,
    )
    .toArray();
}

/** Places in the part, oldest first. */
function matchingRows(
  sql: SqlStorage,
  part: CaptchaPart,
  { since, until }: CaptchaScan,
  conditions: readonly FieldTest[][],
): number[] {
  let rows: number[] | null = null;
  if (part.minTs < since || part.maxTs >= until) {
    const times = columnOf(sql, part, 'timestamp');
    const inside = times.texts.map((text) => Number(text) >= since && Number(text) < until);
    rows = picked(times, inside, null);
  }
  for (const tests of conditions) {
    if (rows?.length === 0) return rows;
    rows = tests.length === 1 ? byOne(sql, part, tests[0] as FieldTest, rows) : byAny(sql, part, tests, rows);
  }
  return rows ?? Array.from({ length: part.rows }, (_, row) => row);
}

function byOne(sql: SqlStorage, part: CaptchaPart, test: FieldTest, rows: readonly number[] | null): number[] {
  const column = columnOf(sql, part, test.field);
  if (!test.mayPass(column.text)) return [];
  return picked(
    column,
    column.texts.map((text) => test.passes(text)),
    rows,
  );
}

function byAny(
  sql: SqlStorage,
  part: CaptchaPart,
  tests: readonly FieldTest[],
  rows: readonly number[] | null,
): number[] {
  const found = new Uint8Array(part.rows);
  for (const test of tests) for (const row of byOne(sql, part, test, rows)) found[row] = 1;
  const matching: number[] = [];
  for (const [row, flag] of found.entries()) if (flag === 1) matching.push(row);
  return matching;
}

/** Rows, of these or of all, whose value passes. */
function picked(column: CaptchaColumn, passes: readonly boolean[], rows: readonly number[] | null): number[] {
  const { indexes } = column;
  const kept: number[] = [];
  if (rows) for (const row of rows) if (passes[indexes[row] as number]) kept.push(row);
  if (rows === null && passes.includes(true)) {
    for (let row = 0; row < indexes.length; row += 1) if (passes[indexes[row] as number]) kept.push(row);
  }
  return kept;
}

function newestRows(sql: SqlStorage, part: CaptchaPart, matching: readonly number[], scan: CaptchaScan): StoredRow[] {
  const { before, limit } = scan;
  if (before === null || compareNewestFirst(before, newestOf(part)) < 0) {
    return rowsOf(sql, part, matching.slice(-limit));
  }
  const [times, ids] = [columnOf(sql, part, 'timestamp'), columnOf(sql, part, 'id')];
  const older = matching.filter((row) =>
    isOlder({ timestamp: Number(times.textOf(row)), id: ids.textOf(row).slice(1, -1) }, before),
  );
  return rowsOf(sql, part, older.slice(-limit));
}

function isOlder(row: RowKey, before: RowKey | null): boolean {
  return before === null || compareNewestFirst(before, row) < 0;
}
