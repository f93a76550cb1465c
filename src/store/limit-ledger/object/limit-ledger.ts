/**
 * LimitLedger: the Durable Object that counts limits for the isolates of all edges. `add` takes what isolates counted by
 * themselves: the sum is exact, and how late an isolate hears of it is the isolate's affair. `take` grants uses of exact
 * limits, and nobody else does, so that never one too many passes. Everything is written before the answer, so a restart
 * loses nothing; what is refused writes nothing. Tables: docs/storage-schema.md.
 */
import { DurableObject } from 'cloudflare:workers';
import type { LimitCounter, LimitSums, LimitTake, LimitTakings } from '../../../contract/edge/limits.ts';
import { FREE_MARK, hasRoomFor } from '../../../limits/limit-keys.ts';
import { openObject, type ObjectSchema } from '../../object-schema.ts';
import type { LimitLedgerRpc } from '../rpc.ts';
import { Allowances, createAllowances } from './allowances.ts';
import { WindowSums, createWindowSums } from './window-sums.ts';

/**
 * A full object adds no new keys. Then isolates have only their own counts of them, and exact limits no answer. Keys that
 * visitors write freely leave an eighth of it to the others.
 */
const KEYS_MAX = 131_072;
/** Rows that ended cost only space. */
const CLEANING_INTERVAL_MS = 600_000;
/** A full object looks for such rows more often. */
const FULL_CLEANING_INTERVAL_MS = 10_000;

const limitLedgerSchema: ObjectSchema = {
  object: 'LimitLedger',
  create(sql) {
    createWindowSums(sql);
    createAllowances(sql);
  },
  steps: [
    (sql) => {
      // It held the counts of a minute, under keys that are formed otherwise now.
      sql.exec('DROP TABLE IF EXISTS counters');
      createWindowSums(sql);
      createAllowances(sql);
    },
  ],
};

export class LimitLedger extends DurableObject<ServiceEnv> implements LimitLedgerRpc {
  readonly #sums: WindowSums;
  readonly #allowances: Allowances;
  #alarmAt = Infinity;
  #cleanedAt = -Infinity;

  constructor(state: DurableObjectState, env: ServiceEnv) {
    super(state, env);
    openObject(state, env, limitLedgerSchema);
    this.#sums = new WindowSums(state.storage.sql);
    this.#allowances = new Allowances(state.storage.sql);
  }

  async add(windowMs: number, counters: readonly LimitCounter[]): Promise<LimitSums> {
    const nowMs = Date.now();
    this.#makeRoom(nowMs);
    const sums = this.ctx.storage.transactionSync(() =>
      counters.map((counter) => {
        const meter = { windowMs: counter.windowMs ?? windowMs, count: counter.drains ?? 0 };
        return counter.drains === undefined
          ? this.#sums.add(counter, meter.windowMs, nowMs, this.#hasRoom(counter.key))
          : ([0, this.#allowances.fill(counter.key, meter, counter.count, nowMs, this.#hasRoom(counter.key))] as const);
      }),
    );
    await this.#planCleaning(nowMs);
    return sums;
  }

  async take(takes: readonly LimitTake[]): Promise<LimitTakings> {
    const nowMs = Date.now();
    this.#makeRoom(nowMs);
    const takings = this.ctx.storage.transactionSync(() =>
      takes.map((take) => this.#allowances.take(take, nowMs, this.#hasRoom(take.key))),
    );
    await this.#planCleaning(nowMs);
    return takings;
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = Infinity;
    this.#clean(Date.now());
    await this.#planCleaning(Date.now());
  }

  #hasRoom(key: string): boolean {
    return hasRoomFor(key, this.#sums.rows + this.#allowances.rows, KEYS_MAX);
  }

  #makeRoom(nowMs: number): void {
    if (!this.#hasRoom(FREE_MARK) && Math.abs(nowMs - this.#cleanedAt) >= FULL_CLEANING_INTERVAL_MS) this.#clean(nowMs);
  }

  #clean(nowMs: number): void {
    this.#cleanedAt = nowMs;
    this.#sums.clean(nowMs);
    this.#allowances.clean(nowMs);
  }

  async #planCleaning(nowMs: number): Promise<void> {
    if (this.#alarmAt !== Infinity || this.#sums.rows + this.#allowances.rows === 0) return;
    // An object that sleeps and wakes often would put it off each time.
    const plannedAt = await this.ctx.storage.getAlarm();
    const latestAt = nowMs + CLEANING_INTERVAL_MS;
    this.#alarmAt = Math.min(plannedAt ?? latestAt, latestAt);
    if (this.#alarmAt !== plannedAt) await this.ctx.storage.setAlarm(this.#alarmAt);
  }
}
