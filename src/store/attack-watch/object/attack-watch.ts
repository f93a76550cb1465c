/**
 * AttackWatch: the Durable Object that sees the traffic of one instance as a whole, in sums of two seconds, and says
 * whether it is an attack. The sums of the last seconds are in memory only. What is usual, and an alarm, are written, so
 * that a restart forgets a minute and no alarm. Table: docs/storage-schema.md.
 */
import { DurableObject } from 'cloudflare:workers';
import { NetworkShares } from '../../../attack/network-shares.ts';
import { addTraffic, noTraffic, type ReportedStep, STEP_MS, type TrafficStep } from '../../../attack/traffic.ts';
import { type Alarm, STEPS_KEPT, watch, type Watched, watchedFrom, watchedIn } from '../../../attack/watch.ts';
import { migrateObject, type ObjectSchema, openObject } from '../../object-schema.ts';
import type { AttackWatchRpc, WatchSettings } from '../rpc.ts';

const WRITE_EVERY_MS = 60_000;
/** Clocks of two data centres differ by less. */
const STEPS_AHEAD_MAX = 2;

export class AttackWatch extends DurableObject<ServiceEnv> implements AttackWatchRpc {
  readonly #sql: SqlStorage;
  readonly #steps = new Map<number, TrafficStep>();
  readonly #shares = new NetworkShares();
  #watched: Watched | null;
  #writtenAt = 0;

  constructor(state: DurableObjectState, env: ServiceEnv) {
    super(state, env);
    openObject(state, env, attackWatchSchema);
    this.#sql = state.storage.sql;
    const [row] = this.#sql.exec<{ state: string }>('SELECT state FROM watched').toArray();
    this.#watched = row === undefined ? null : watchedIn(row.state);
  }

  async add(steps: ReportedStep[], settings: WatchSettings): Promise<Alarm | null> {
    const nowMs = Date.now();
    const current = Math.floor(nowMs / STEP_MS);
    for (const given of steps) {
      if (given.step <= current - STEPS_KEPT || given.step > current + STEPS_AHEAD_MAX) continue;
      const { step, networks = [] } = given;
      const known = this.#steps.get(step) ?? { step, ...noTraffic };
      this.#steps.set(step, known);
      addTraffic(known, given);
      for (const network of networks) {
        // The same network may come to the edges of many isolates.
        const taken = this.#shares.take(`${step}`, network, network.requests, settings.minimumRate);
        addTraffic(known, network, taken / network.requests);
      }
    }
    for (const step of this.#steps.keys()) if (step <= current - STEPS_KEPT) this.#steps.delete(step);
    return this.#look(settings, nowMs);
  }

  async alarmNow(settings: WatchSettings): Promise<Alarm | null> {
    return this.#watched === null ? null : this.#look(settings, Date.now());
  }

  async retire(): Promise<void> {
    this.#watched = null;
    this.#steps.clear();
    await this.ctx.storage.deleteAll();
    migrateObject(this.ctx.storage, attackWatchSchema);
  }

  #look({ minimumRate }: WatchSettings, nowMs: number): Alarm | null {
    const before = this.#watched ?? watchedFrom(nowMs);
    const watched = watch(before, this.#steps, minimumRate, nowMs);
    this.#watched = watched;
    if (watched.alarm?.since !== before.alarm?.since || nowMs - this.#writtenAt >= WRITE_EVERY_MS) {
      this.#sql.exec('INSERT OR REPLACE INTO watched (id, state) VALUES (1, ?)', JSON.stringify(watched));
      this.#writtenAt = nowMs;
    }
    return watched.alarm;
  }
}

const attackWatchSchema: ObjectSchema = {
  object: 'AttackWatch',
  create(sql) {
    sql.exec('CREATE TABLE watched (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL)');
  },
  // The table was the same before it had a version.
  steps: [() => {}],
};
