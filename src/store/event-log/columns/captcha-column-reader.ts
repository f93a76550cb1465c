/**
 * One field's columns of several runs. A statement costs more than the pages it reads, so one statement reads the short
 * keys of all runs, and the filters of long keys. Long keys are then read one by one where the filter passes.
 */
import { captchaFields } from '../captcha-fields.ts';
import { ColumnKeys, openPlaces } from './captcha-column.ts';
import type { CaptchaField } from '../captcha-fields.ts';
import type { FieldTest } from './captcha-field-test.ts';
import { mayHold } from './bloom-filter.ts';

/** Successive rows of one sealed segment that are searched together; a row of `captcha_runs`. */
export interface CaptchaRun {
  segment: number;
  no: number;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

/** The values of a run's column that pass a test. */
export interface Passing {
  field: CaptchaField;
  /** By place: 1 or 0. */
  table: Uint8Array;
  /** Rows of the run with such a value. */
  rows: number;
}

export class ColumnReader {
  readonly #sql: SqlStorage;
  readonly #field: CaptchaField;
  readonly #read = new Map<string, { filter: ArrayBuffer | null; keys: ArrayBuffer | null }>();

  constructor(sql: SqlStorage, field: CaptchaField, runs: readonly CaptchaRun[]) {
    this.#sql = sql;
    this.#field = field;
    for (const { segment, run, filter, keys } of sql.exec<{
      segment: number;
      run: number;
      filter: ArrayBuffer | null;
      keys: ArrayBuffer | null;
    }>(
      `SELECT segment, run, filter, CASE WHEN filter IS NULL THEN keys END AS keys FROM captcha_criteria
       WHERE field = ? AND segment IN (SELECT value FROM json_each(?))`,
      captchaFields.indexOf(field),
      segmentsOf(runs),
    )) {
      this.#read.set(`${segment} ${run}`, { filter, keys });
    }
  }

  /** `null`: no row of the run passes. */
  passing(run: CaptchaRun, test: FieldTest): Passing | null {
    const { filter, keys: data } = this.#read.get(`${run.segment} ${run.no}`) ?? { filter: null, keys: null };
    if (filter && test.only !== null && !mayHold(new Uint8Array(filter), test.only)) return null;
    const keys = data ? new ColumnKeys(data) : keysOf(this.#sql, this.#field, run);
    const table = passTable(keys, test);
    if (table === null) return null;
    let rows = 0;
    for (const [place, count] of keys.counts.entries()) if (table[place] === 1) rows += count;
    return rows === 0 ? null : { field: this.#field, table, rows };
  }
}

export function keysOf(sql: SqlStorage, field: CaptchaField, { segment, no }: CaptchaRun): ColumnKeys {
  const { keys } = sql
    .exec<{ keys: ArrayBuffer }>(
      'SELECT keys FROM captcha_criteria WHERE field = ? AND segment = ? AND run = ?',
      captchaFields.indexOf(field),
      segment,
      no,
    )
    .one();
  return new ColumnKeys(keys);
}

/** Epoch milliseconds of each row. */
export function timesOf(sql: SqlStorage, { segment, no }: CaptchaRun): Float64Array {
  const { places } = sql
    .exec<{ places: ArrayBuffer }>(
      'SELECT places FROM captcha_criteria WHERE field = ? AND segment = ? AND run = ?',
      captchaFields.indexOf('timestamp'),
      segment,
      no,
    )
    .one();
  return new Float64Array(places);
}

function passTable(keys: ColumnKeys, test: FieldTest): Uint8Array | null {
  const { only } = test;
  if (only === null && !test.mayPass(keys.text)) return null;
  if (only === null) return Uint8Array.from(keys.texts, (text) => (test.passes(text) ? 1 : 0));
  const place = keys.placeOf(only);
  if (place === -1) return null;
  const table = new Uint8Array(keys.counts.length);
  table[place] = 1;
  return table;
}

/** Calls `visit` with the places of the rows of each run. */
export function eachPlaces(
  sql: SqlStorage,
  field: CaptchaField,
  runs: readonly CaptchaRun[],
  visit: (run: CaptchaRun, places: Uint8Array | Uint16Array) => void,
): void {
  const wanted = new Map(runs.map((run) => [`${run.segment} ${run.no}`, run]));
  for (const { segment, no, places } of sql.exec<{ segment: number; no: number; places: ArrayBuffer }>(
    `SELECT segment, run AS no, places FROM captcha_criteria
     WHERE field = ? AND segment IN (SELECT value FROM json_each(?))`,
    captchaFields.indexOf(field),
    segmentsOf(runs),
  )) {
    const run = wanted.get(`${segment} ${no}`);
    if (run) visit(run, openPlaces(places, run.rows));
  }
}

function segmentsOf(runs: readonly CaptchaRun[]): string {
  return JSON.stringify([...new Set(runs.map(({ segment }) => segment))]);
}
