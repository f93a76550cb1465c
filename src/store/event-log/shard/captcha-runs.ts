/**
 * Sealed captchas, stored for searching beside their segment's object. Up to 10,000 rows of a segment form a run. A run
 * has one column per searchable field (`captcha_criteria`), and its whole rows are in groups (`captcha_groups`).
 */
import type { CaptchaRun } from '../columns/captcha-column-reader.ts';
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey } from '../log-row.ts';
import { readMeta, writeMeta } from './schema.ts';
import type { CaptchaRecord } from '../captcha-record.ts';
import { captchaFields, searchedFields } from '../captcha-fields.ts';
import { packColumnKeys, packPlaces, packTimes } from '../columns/captcha-column.ts';
import type { CaptchaField } from '../captcha-fields.ts';
import { FILTERED_TEXTS_MIN, keyFilter } from '../columns/bloom-filter.ts';
import { CaptchaGroup, CaptchaGroupBuilder, GROUP_ROWS } from '../columns/captcha-row-group.ts';

/** A column of one-byte places then takes 10 kB, and two bytes are always enough for a place. */
const RUN_ROWS = 10_000;
/**
 * Characters of one column before its run is closed; a group can follow. At most three bytes each: a value in SQLite
 * holds at most 2 MB.
 */
const RUN_TEXT_MAX = 300_000;

interface OpenColumn {
  /** JSON text → its place. */
  known: Map<string, number>;
  texts: string[];
  textLength: number;
  /** By row. */
  places: Uint16Array;
}

interface ClosedRun {
  rows: number;
  oldest: RowKey;
  newest: RowKey;
  columns: { field: CaptchaField; filter: Uint8Array | null; keys: Uint8Array; places: Uint8Array }[];
  groups: { first: number; newest: RowKey; data: Uint8Array }[];
}

/** Collects the captchas of one segment, oldest first. */
export class CaptchaRunsBuilder {
  readonly #runs: ClosedRun[] = [];
  #columns: OpenColumn[] = openColumns();
  #groups: ClosedRun['groups'] = [];
  #group = new CaptchaGroupBuilder();
  #times: number[] = [];
  #rows = 0;
  #oldest: RowKey | null = null;
  #newest: RowKey | null = null;

  add(record: CaptchaRecord): void {
    this.#oldest ??= record;
    this.#newest = record;
    this.#times.push(record.timestamp);
    this.#group.add(record);
    if (!this.#group.isFull) return;
    this.#closeGroup();
    const isLong = this.#columns.some(({ textLength }) => textLength >= RUN_TEXT_MAX);
    if (isLong || this.#rows > RUN_ROWS - GROUP_ROWS) this.#closeRun();
  }

  /** Gives the group's values their places in the run's columns, with one look-up per distinct value. */
  #closeGroup(): void {
    const group = this.#group;
    if (group.rows === 0 || this.#newest === null) return;
    for (const [no, field] of searchedFields.entries()) {
      const { texts, indexes } = group.fields[captchaFields.indexOf(field)] as CaptchaGroupBuilder['fields'][number];
      const column = this.#columns[no] as OpenColumn;
      const places = texts.map((text) => placeIn(column, text));
      for (let row = 0; row < group.rows; row += 1) {
        column.places[this.#rows + row] = places[indexes[row] as number] as number;
      }
    }
    const { id, timestamp } = this.#newest;
    this.#groups.push({ first: this.#rows, newest: { id, timestamp }, data: group.packed() });
    this.#rows += group.rows;
    this.#group = new CaptchaGroupBuilder();
  }

  #closeRun(): void {
    this.#closeGroup();
    if (this.#oldest === null || this.#newest === null) return;
    this.#runs.push({
      rows: this.#rows,
      oldest: this.#oldest,
      newest: this.#newest,
      columns: [...this.#columns.map((column, no) => this.#closed(column, no)), timeColumn(this.#times)],
      groups: this.#groups,
    });
    this.#columns = openColumns();
    this.#groups = [];
    this.#times = [];
    this.#rows = 0;
    this.#oldest = null;
  }

  #closed({ texts, places }: OpenColumn, no: number): ClosedRun['columns'][number] {
    const used = places.subarray(0, this.#rows);
    return {
      field: searchedFields[no] as CaptchaField,
      filter: texts.length < FILTERED_TEXTS_MIN ? null : keyFilter(texts),
      keys: packColumnKeys(texts, countsOf(used, texts.length)),
      places: packPlaces(used, texts.length),
    };
  }

  /** Runs inside the caller's transaction and replaces what an earlier revision of the segment stored. */
  write(sql: SqlStorage, segment: number): void {
    this.#closeRun();
    if (dropRuns(sql, segment) > 0) raiseRevision(sql);
    for (const [no, run] of this.#runs.entries()) {
      sql.exec(
        'INSERT INTO captcha_runs (segment, no, rows, min_ts, max_ts, max_id) VALUES (?, ?, ?, ?, ?, ?)',
        segment,
        no,
        run.rows,
        run.oldest.timestamp,
        run.newest.timestamp,
        run.newest.id,
      );
      for (const { field, filter, keys, places } of run.columns) {
        sql.exec(
          'INSERT INTO captcha_criteria (field, segment, run, filter, keys, places) VALUES (?, ?, ?, ?, ?, ?)',
          captchaFields.indexOf(field),
          segment,
          no,
          filter,
          keys,
          places,
        );
      }
      for (const { first, newest, data } of run.groups) {
        sql.exec(
          'INSERT INTO captcha_groups (segment, run, first, max_ts, max_id, data) VALUES (?, ?, ?, ?, ?, ?)',
          segment,
          no,
          first,
          newest.timestamp,
          newest.id,
          data,
        );
      }
    }
  }
}

function openColumns(): OpenColumn[] {
  return searchedFields.map(() => ({
    known: new Map(),
    texts: [],
    textLength: 0,
    places: new Uint16Array(RUN_ROWS),
  }));
}

function timeColumn(times: readonly number[]): ClosedRun['columns'][number] {
  return { field: 'timestamp', filter: null, keys: packColumnKeys([], new Uint32Array()), places: packTimes(times) };
}

function countsOf(places: Uint16Array, values: number): Uint32Array {
  const counts = new Uint32Array(values);
  for (const place of places) counts[place] = (counts[place] as number) + 1;
  return counts;
}

function placeIn(column: OpenColumn, text: string): number {
  const known = column.known.get(text);
  if (known !== undefined) return known;
  const place = column.texts.push(text) - 1;
  column.known.set(text, place);
  column.textLength += text.length;
  return place;
}

/** Returns how many runs the segment had. */
export function dropRuns(sql: SqlStorage, segment: number): number {
  const runs = sql.exec<{ no: number }>('SELECT no FROM captcha_runs WHERE segment = ?', segment).toArray();
  for (const { no } of runs) dropRun(sql, segment, no);
  return runs.length;
}

/** Runs serve searches only, which look back less far than records are kept. */
export function dropRunsBefore(sql: SqlStorage, timestamp: number): void {
  const runs = sql.exec<{ segment: number; no: number }>(
    'SELECT segment, no FROM captcha_runs WHERE max_ts < ?',
    timestamp,
  );
  for (const { segment, no } of runs.toArray()) dropRun(sql, segment, no);
}

function dropRun(sql: SqlStorage, segment: number, no: number): void {
  for (const field of [...searchedFields, 'timestamp'] as const) {
    sql.exec(
      'DELETE FROM captcha_criteria WHERE field = ? AND segment = ? AND run = ?',
      captchaFields.indexOf(field),
      segment,
      no,
    );
  }
  sql.exec('DELETE FROM captcha_groups WHERE segment = ? AND run = ?', segment, no);
  sql.exec('DELETE FROM captcha_runs WHERE segment = ? AND no = ?', segment, no);
}

/** Rises when a segment's runs are rewritten. A search that is under way then starts again. */
export function runsRevision(sql: SqlStorage): number {
  return Number(readMeta(sql, 'runs_revision') ?? 0);
}

function raiseRevision(sql: SqlStorage): void {
  writeMeta(sql, 'runs_revision', String(runsRevision(sql) + 1));
}

/** The newest `limit` runs that overlap the window; `until` exclusive. */
export function runsBetween(sql: SqlStorage, since: number, until: number, limit: number): CaptchaRun[] {
  return sql
    .exec<CaptchaRun & Record<string, SqlStorageValue>>(
      `SELECT segment, no, rows, min_ts AS minTs, max_ts AS maxTs, max_id AS maxId FROM captcha_runs
       WHERE max_ts >= ? AND min_ts < ? ORDER BY max_ts DESC, max_id DESC LIMIT ?`,
      since,
      until,
      limit,
    )
    .toArray();
}

export function newestOf(run: CaptchaRun): RowKey {
  return { timestamp: run.maxTs, id: run.maxId };
}

export interface PlacedGroup {
  /** Place of the group's first row in the run. */
  first: number;
  group: CaptchaGroup;
}

/** The group that holds the row at this place. */
export function groupAt(sql: SqlStorage, run: CaptchaRun, place: number): PlacedGroup {
  const { first, data } = sql
    .exec<{ first: number; data: ArrayBuffer }>(
      'SELECT first, data FROM captcha_groups WHERE segment = ? AND run = ? AND first <= ? ORDER BY first DESC LIMIT 1',
      run.segment,
      run.no,
      place,
    )
    .one();
  return { first, group: new CaptchaGroup(data) };
}

/** How many rows of the run are older than this key. They come first in the run. */
export function rowsBefore(sql: SqlStorage, run: CaptchaRun, key: RowKey): number {
  if (run.minTs > key.timestamp) return 0;
  if (compareNewestFirst(key, newestOf(run)) < 0) return run.rows;
  const [across] = sql.exec<{ first: number; data: ArrayBuffer }>(
    `SELECT first, data FROM captcha_groups WHERE segment = ? AND run = ? AND (max_ts, max_id) >= (?, ?)
     ORDER BY first LIMIT 1`,
    run.segment,
    run.no,
    key.timestamp,
    key.id,
  );
  if (!across) return run.rows;
  const group = new CaptchaGroup(across.data);
  const [times, timeAt] = [group.textsOf('timestamp'), group.indexesOf('timestamp')];
  const [ids, idAt] = [group.textsOf('id'), group.indexesOf('id')];
  let row = 0;
  while (row < group.rows) {
    const timestamp = Number(times[timeAt[row] as number]);
    const id = (ids[idAt[row] as number] as string).slice(1, -1);
    if (timestamp > key.timestamp || (timestamp === key.timestamp && id >= key.id)) break;
    row += 1;
  }
  return across.first + row;
}
