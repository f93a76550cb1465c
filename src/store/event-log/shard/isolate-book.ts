/**
 * What each isolate has numbered, and which of its numbers are stored: that is how a repeated batch is recognised, also
 * long after its rows were sealed or erased. The table has everything up to the last merge; memory adds the batches
 * that came later, and is rebuilt from them.
 */
import { addRange, countOf, type NumberRange, numbersIn, overlapOf } from '../number-ranges.ts';
import type { BatchAnswer, PackedBatch } from '../packed-batch.ts';
import type { IsolateGap } from '../shard-rpc.ts';
import { type HashRun, packHashes, unpackHashes } from './number-hashes.ts';

/** Isolates whose ranges stay in memory after a merge. A healthy one has a single range. */
const CACHED_MAX = 2000;
/** An isolate that lost this many batches: the oldest gap is closed, and what it lacks counts as missing for good. */
const RANGES_MAX = 10_000;

/** The fields of a batch that concern its isolate. */
export type IsolateBatch = Pick<PackedBatch, 'isolate' | 'ranges' | 'hashes' | 'numbered' | 'announced' | 'heardAt'>;

interface IsolateState {
  covered: NumberRange[];
  stored: number;
  numbered: number;
  announced: number;
  heardAt: number;
  /** Of the batches since the last merge. */
  fresh: HashRun[];
}

type IsolateRow = Record<string, SqlStorageValue> & Omit<IsolateGap, 'isolate'> & { covered: string };

export class IsolateBook {
  readonly #sql: SqlStorage;
  readonly #states = new Map<string, IsolateState>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** What is known of this batch already. */
  examine({ isolate, ranges, hashes }: IsolateBatch): BatchAnswer {
    const state = this.#stateOf(isolate);
    const known = ranges.flatMap((range) => overlapOf(state.covered, range));
    if (known.length === 0) return { known, conflicting: 0 };
    const given = new Map<number, number>();
    let at = 0;
    for (const number of numbersIn(ranges)) given.set(number, hashes[at++] as number);
    const stored = [...this.#sealedHashes(isolate), ...state.fresh];
    let conflicting = 0;
    for (const number of numbersIn(known)) {
      const hash = hashOf(stored, number);
      if (hash !== null && hash !== given.get(number)) conflicting++;
    }
    return { known, conflicting };
  }

  /** A batch that was stored. */
  add({ isolate, ranges, hashes, numbered, announced, heardAt }: IsolateBatch): void {
    const state = this.#stateOf(isolate);
    let at = 0;
    for (const range of ranges) {
      const length = range[1] - range[0] + 1;
      addRange(state.covered, range);
      state.fresh.push({ first: range[0], hashes: hashes.subarray(at, at + length) });
      at += length;
    }
    while (state.covered.length > RANGES_MAX) addRange(state.covered, [state.covered[0]![0], state.covered[1]![1]]);
    state.stored += countOf(ranges);
    state.numbered = Math.max(state.numbered, numbered);
    state.announced = Math.max(state.announced, announced);
    state.heardAt = Math.max(state.heardAt, heardAt);
  }

  /**
   * Numbers that a sealed segment holds, as pairs of first and last; runs inside the caller's transaction. Without their
   * hashes, a copy with another content counts as a plain copy.
   */
  restore(isolate: string, pairs: readonly number[], numbered: number, heardAt: number): void {
    const state = this.#stateOf(isolate);
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const range: NumberRange = [pairs[at] as number, pairs[at + 1] as number];
      state.stored += countOf([range]) - countOf(overlapOf(state.covered, range));
      addRange(state.covered, range);
    }
    state.numbered = Math.max(state.numbered, numbered);
    state.announced = Math.max(state.announced, numbered);
    state.heardAt = Math.max(state.heardAt, heardAt);
    this.#put(isolate, state);
  }

  /** Runs inside the transaction that moves the watermark; `forgetFresh` follows when it has succeeded. */
  write(): void {
    for (const [isolate, state] of this.#states) {
      if (state.fresh.length > 0) this.#put(isolate, state);
    }
  }

  #put(isolate: string, state: IsolateState): void {
    this.#sql.exec(
      `INSERT INTO isolates (isolate, stored, numbered, announced, heard_at, covered, hashes)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (isolate) DO UPDATE SET stored = excluded.stored,
           numbered = excluded.numbered, announced = excluded.announced, heard_at = excluded.heard_at,
           covered = excluded.covered, hashes = excluded.hashes`,
      isolate,
      state.stored,
      state.numbered,
      state.announced,
      state.heardAt,
      JSON.stringify(state.covered),
      packHashes([...this.#sealedHashes(isolate), ...state.fresh]),
    );
  }

  forgetFresh(): void {
    if (this.#states.size > CACHED_MAX) this.#states.clear();
    for (const state of this.#states.values()) state.fresh = [];
  }

  forget(): void {
    this.#states.clear();
  }

  /** Runs inside the caller's transaction: no copy of what these isolates sent can arrive any more. */
  dropSilentSince(moment: number): void {
    this.#sql.exec('DELETE FROM isolates WHERE heard_at < ?', moment);
    for (const [isolate, { heardAt }] of this.#states) if (heardAt < moment) this.#states.delete(isolate);
  }

  gaps(): IsolateGap[] {
    const merged = this.#sql
      .exec<IsolateGap & Record<string, SqlStorageValue>>(
        'SELECT isolate, stored, numbered, announced, heard_at AS heardAt FROM isolates',
      )
      .toArray()
      .filter(({ isolate }) => !this.#states.has(isolate));
    const inMemory = [...this.#states].map(([isolate, { stored, numbered, announced, heardAt }]) => ({
      isolate,
      stored,
      numbered,
      announced,
      heardAt,
    }));
    return [...merged, ...inMemory];
  }

  #stateOf(isolate: string): IsolateState {
    const known = this.#states.get(isolate);
    if (known) return known;
    const [row] = this.#sql.exec<IsolateRow>(
      'SELECT stored, numbered, announced, heard_at AS heardAt, covered FROM isolates WHERE isolate = ?',
      isolate,
    );
    const state: IsolateState = row
      ? { ...row, covered: JSON.parse(row.covered) as NumberRange[], fresh: [] }
      : { covered: [], stored: 0, numbered: 0, announced: 0, heardAt: 0, fresh: [] };
    this.#states.set(isolate, state);
    return state;
  }

  #sealedHashes(isolate: string): HashRun[] {
    const [row] = this.#sql.exec<{ hashes: ArrayBuffer }>('SELECT hashes FROM isolates WHERE isolate = ?', isolate);
    return row ? unpackHashes(row.hashes) : [];
  }
}

function hashOf(runs: readonly HashRun[], number: number): number | null {
  const run = runs.find(({ first, hashes }) => number >= first && number < first + hashes.length);
  return run?.hashes[number - run.first] ?? null;
}
