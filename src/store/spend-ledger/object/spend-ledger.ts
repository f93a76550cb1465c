/**
 * SpendLedger: the Durable Object that spends tokens. `INSERT … ON CONFLICT DO NOTHING` in one object lets exactly one
 * of any number of parallel verifications win; a check followed by a write in KV or D1 would not. Each epoch of first
 * issue has a table, which an alarm drops as a whole. `use-counters.ts` limits attempts, waits and submissions per key.
 */
import { DurableObject } from 'cloudflare:workers';
import { type ObjectSchema, openObject, tableNames } from '../../object-schema.ts';
import type { CountRequest, SpendLedgerRpc, SpendRow } from '../rpc.ts';
import { UseCounters, takeOverCounters } from './use-counters.ts';

/** Tokens that were first issued within the same ten minutes share a table. */
const EPOCH_MS = 600_000;
/**
 * How long a table stays after its epoch: 30 minutes for a chain of rounds, 10 until the token expires, 10 in which an
 * answer is repeated, 10 in reserve.
 */
const KEEP_MS = 3_600_000;
/** How long the answer to a repeated question is kept. */
export const REPLAY_MS = 600_000;

/** Its tables are made when they are needed. */
const spendLedgerSchema: ObjectSchema = {
  object: 'SpendLedger',
  create() {},
  steps: [
    (sql) => {
      if (tableNames(sql).has('counters')) takeOverCounters(sql);
    },
  ],
};

export class SpendLedger extends DurableObject<ServiceEnv> implements SpendLedgerRpc {
  readonly #sql: SqlStorage;
  readonly #epochs = new Set<number>();
  readonly #uses: UseCounters;
  /** When the first table is due to be dropped. */
  #nextDropAt = Infinity;
  /** When the alarm is set for; `null`: not known yet, `Infinity`: it is not set. */
  #alarmAt: number | null = null;

  constructor(state: DurableObjectState, env: ServiceEnv) {
    super(state, env);
    openObject(state, env, spendLedgerSchema);
    this.#sql = state.storage.sql;
    this.#uses = new UseCounters(this.#sql);
    for (const epoch of this.#storedEpochs()) this.#epochs.add(epoch);
    this.#nextDropAt = Math.min(Infinity, ...[...this.#epochs].map(dropAt));
  }

  async spendAll(rows: readonly SpendRow[]): Promise<(boolean | string)[]> {
    const nowMs = Date.now();
    for (const [, bornAt] of rows) this.#makeTable(Math.floor(bornAt / EPOCH_MS), nowMs);
    // Nothing is awaited between the statements, so no other call runs between them.
    const results = this.ctx.storage.transactionSync(() => rows.map((row) => this.#spendRow(row, nowMs)));
    await this.#wake(this.#nextDropAt);
    return results;
  }

  #spendRow([key, bornAt, fingerprint, answer, callId]: SpendRow, nowMs: number): boolean | string {
    const epoch = Math.floor(bornAt / EPOCH_MS);
    // Every token of this age has expired. Its table is gone, so it must not be spendable again.
    if (!this.#live(epoch, nowMs)) return false;
    const table = tableName(epoch);
    const inserted = this.#sql.exec(
      `INSERT INTO ${table} (key, call, fingerprint, answer, spent_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1`,
      key,
      callId,
      fingerprint,
      answer,
      nowMs,
    );
    if (inserted.toArray().length === 1) return true;
    const { call } = this.#sql.exec<{ call: string }>(`SELECT call FROM ${table} WHERE key = ?`, key).one();
    return call === callId || (this.#recall(table, key, fingerprint, nowMs) ?? false);
  }

  async recall(key: string, bornAt: number, fingerprint: string): Promise<string | null> {
    const epoch = Math.floor(bornAt / EPOCH_MS);
    if (!this.#epochs.has(epoch)) return null;
    return this.#recall(tableName(epoch), key, fingerprint, Date.now());
  }

  async isSpent(key: string, bornAt: number): Promise<boolean> {
    const epoch = Math.floor(bornAt / EPOCH_MS);
    if (!this.#epochs.has(epoch)) return false;
    return this.#sql.exec(`SELECT 1 FROM ${tableName(epoch)} WHERE key = ?`, key).toArray().length > 0;
  }

  async count(requests: readonly CountRequest[]): Promise<boolean> {
    const nowMs = Date.now();
    if (!this.#uses.count(requests, nowMs)) return false;
    await this.#wake(nowMs + Math.min(...requests.map(({ windowMs }) => windowMs)));
    return true;
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    for (const epoch of this.#epochs) {
      if (this.#live(epoch, nowMs)) continue;
      this.#sql.exec(`DROP TABLE IF EXISTS ${tableName(epoch)}`);
      this.#epochs.delete(epoch);
    }
    const ends = [...this.#epochs].map(dropAt);
    this.#nextDropAt = Math.min(Infinity, ...ends);
    const uses = this.#uses.dropEnded(nowMs);
    if (uses !== null) ends.push(uses);
    // At most once a minute: windows end all the time, and an expired row does no harm.
    this.#alarmAt = ends.length > 0 ? Math.max(nowMs + 60_000, Math.min(...ends)) : Infinity;
    if (this.#alarmAt !== Infinity) await this.ctx.storage.setAlarm(this.#alarmAt);
  }

  #recall(table: string, key: string, fingerprint: string | null, nowMs: number): string | null {
    if (fingerprint === null) return null;
    const row = this.#sql
      .exec<{ answer: string }>(
        `SELECT answer FROM ${table} WHERE key = ? AND fingerprint = ? AND spent_at > ?`,
        key,
        fingerprint,
        nowMs - REPLAY_MS,
      )
      .toArray()[0];
    return row?.answer ?? null;
  }

  #live(epoch: number, nowMs: number): boolean {
    return dropAt(epoch) > nowMs;
  }

  #makeTable(epoch: number, nowMs: number): void {
    if (this.#epochs.has(epoch) || !this.#live(epoch, nowMs)) return;
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS ${tableName(epoch)} (key TEXT PRIMARY KEY, call TEXT NOT NULL, fingerprint TEXT, answer TEXT NOT NULL, spent_at INTEGER NOT NULL) WITHOUT ROWID`,
    );
    this.#epochs.add(epoch);
    this.#nextDropAt = Math.min(this.#nextDropAt, dropAt(epoch));
  }

  async #wake(at: number): Promise<void> {
    if (this.#alarmAt === null) {
      const stored = await this.ctx.storage.getAlarm();
      this.#alarmAt ??= stored ?? Infinity;
    }
    if (this.#alarmAt <= at) return;
    // Set before the write is awaited: calls that arrive meanwhile need not set the alarm again.
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }

  #storedEpochs(): number[] {
    return this.#sql
      .exec<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'spent_[0-9]*'`)
      .toArray()
      .map((row) => Number(row.name.slice('spent_'.length)));
  }
}

/** Epoch milliseconds at which every token of an epoch has expired. */
function dropAt(epoch: number): number {
  return (epoch + 1) * EPOCH_MS + KEEP_MS;
}

/** Digits only, because an epoch is a number: the name cannot carry SQL. */
function tableName(epoch: number): string {
  return `spent_${Math.trunc(epoch)}`;
}
