/**
 * RuleBook: the Durable Object that alone writes an instance's edge access rules. A write is one version, which the
 * delta contains at once. An alarm compiles new bases in slices, so that neither writers nor edges wait. State is in
 * SQLite (docs/storage-schema.md), files are in R2.
 */
import { DurableObject } from 'cloudflare:workers';
import { failed, type Result } from '../../../result.ts';
import { rulesetFormats } from '../../../contract/edge/formats.ts';
import { openObject } from '../../object-schema.ts';
import { baseCheckedAt, currentBase, noteBaseCheck, servedBase } from './bases.ts';
import {
  changesSince,
  deltaChangesShipped,
  firstChangeAt,
  history,
  historyFloor,
  lastVersionWithin,
} from './change-log.ts';
import { compileBases, isBaseSound } from './compile-base.ts';
import { DeltaFiles } from './delta-files.ts';
import { EdgeContacts } from './edge-contacts.ts';
import { FailureWatch } from './failure-watch.ts';
import { packedPage, ruleTotal, rulesUnder } from './list-rules.ts';
import { eraseRuleBook, isRuleBookRetired, markRuleBookRetired } from './erase-rule-book.ts';
import { entriesUnder, keysAfter, layerStates, rankedLists } from './list-layers.ts';
import { passExpiry } from './list-log.ts';
import { changeList, putList, removeList } from './write-lists.ts';
import type { ListChange, LayerSettings, ListState, RefusedListChange, TooManyLists } from '../list-rpc.ts';
import type {
  BasePointer,
  EdgeCaller,
  EdgeSighting,
  HistoryEntry,
  MatchingRules,
  PackedRulePage,
  RollbackOutcome,
  RuleBookRpc,
  RulePageQuery,
  RulesVersion,
  SeenEdge,
  WriteAuthor,
  WriteOutcome,
} from '../rpc.ts';
import type { RuleKey, RuleWrite } from '../rule-row.ts';
import { nameRuleBook, ruleBookSchema } from './schema.ts';
import { userAgentRulesIn } from './user-agents.ts';
import { deleteRules, restoreVersion, RULES_PER_INSTANCE_MAX, upsertRules, usedRoom } from './write-rules.ts';

/**
 * Every version sends the whole delta to every colo again. Once these add up to the size of the base, a new base is
 * cheaper: at a million rules after about 1,400 single changes, or 14 batches of 10,000.
 */
const SHIPPED_CHANGES_MIN = 200_000;
/** Lets a burst of writes finish before the compile starts. */
const COMPILE_DELAY_MS = 1000;
/**
 * A delta of this size is compiled into the base when the book is quiet, because an edge searches it in addition to the
 * base.
 */
const DELTA_QUIET_CHANGES = 2000;
const COMPILE_QUIET_DELAY_MS = 30_000;
/** After a compile that failed. */
const COMPILE_RETRY_MS = 60_000;
/** A damaged base keeps new edges from their rules. A look reads the whole file, 11 MB for a million rules. */
const BASE_CHECK_INTERVAL_MS = 3_600_000;
/** Every edge that starts meanwhile reports it. */
const REFUSED_CHECK_INTERVAL_MS = 10_000;
/** Above this, writers wait for the compile. It bounds the delta that edges load (about 1.5 MB). */
const DELTA_MAX_CHANGES = 100_000;

export class RuleBook extends DurableObject<ServiceEnv> implements RuleBookRpc {
  readonly #storage: DurableObjectStorage;
  readonly #instanceId: string;
  readonly #deltas: DeltaFiles;
  readonly #watch: FailureWatch;
  readonly #contacts: EdgeContacts;
  #compiling: Promise<void> | null = null;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /**
   * Epoch milliseconds. Later writes may bring the alarm forward but never delay it, or writes could delay the compile
   * without end.
   */
  #alarmAt = Number.POSITIVE_INFINITY;

  constructor(ctx: DurableObjectState, env: ServiceEnv) {
    super(ctx, env);
    this.#storage = ctx.storage;
    openObject(ctx, env, ruleBookSchema);
    nameRuleBook(ctx.storage.sql, ctx.id.name);
    this.#instanceId = instanceIdOf(ctx.storage.sql);
    this.#watch = new FailureWatch(env, this.#instanceId);
    this.#contacts = new EdgeContacts(ctx.storage.sql);
    this.#deltas = new DeltaFiles(ctx.storage.sql, env, this.#instanceId, this.#watch);
  }

  async currentVersion(by?: EdgeCaller, format?: string): Promise<RulesVersion> {
    const base = await this.#base(format);
    passExpiry(this.#storage, Date.now());
    const version = this.#publishedVersion(base);
    if (by) this.#contacts.note(by, version);
    return { base, delta: { version } };
  }

  async delta(baseHash: string, version: number, by?: EdgeCaller): Promise<Uint8Array | null> {
    const base = servedBase(this.#storage.sql, baseHash);
    if (!base || version < base.version || version > this.#version()) return null;
    const file = await this.#deltas.file(base, version, Date.now());
    if (by) this.#contacts.note({ ...by, rulesVersion: version }, version);
    return file;
  }

  async checkBase(reason: 'refused' | 'due'): Promise<void> {
    const nowMs = Date.now();
    if (reason === 'refused') {
      if (nowMs - this.#refusedAt < REFUSED_CHECK_INTERVAL_MS) return;
      this.#refusedAt = nowMs;
    }
    for (const format of rulesetFormats) await this.#checkBase(format, reason, nowMs);
  }

  async #checkBase(format: string, reason: 'refused' | 'due', nowMs: number): Promise<void> {
    const { sql } = this.#storage;
    const base = currentBase(sql, format);
    if (base === null) return;
    if (reason === 'due' && nowMs - baseCheckedAt(sql, base.hash) < BASE_CHECK_INTERVAL_MS) return;
    const isSound = await isBaseSound(this.env, this.#instanceId, base.hash, nowMs);
    // A compile may have replaced and deleted it meanwhile.
    if (currentBase(sql, format)?.hash !== base.hash) return;
    noteBaseCheck(sql, base.hash, nowMs);
    // A report says that it was damaged, even if the file is sound again: only the hourly look ends the note.
    if (!isSound || reason === 'due') await this.#watch.noteFile(base.hash, !isSound);
    if (!isSound) await this.compile();
  }

  async noteEdge({ baseHash, ...sighting }: EdgeSighting): Promise<void> {
    const version = this.#publishedVersion(await this.#base());
    const base = baseHash === undefined ? null : servedBase(this.#storage.sql, baseHash);
    this.#contacts.note(base === null ? sighting : { ...sighting, rulesVersion: base.version }, version);
  }

  async edges(): Promise<{ edges: SeenEdge[]; version: number; rules: number; rulesMax: number }> {
    const { sql } = this.#storage;
    const version = this.#publishedVersion(await this.#base());
    const edges = this.#contacts.list().map((edge) => ({
      ...edge,
      behindSince: edge.rulesVersion === null ? null : firstChangeAt(sql, edge.rulesVersion, version),
    }));
    return { edges, version, rules: usedRoom(sql), rulesMax: RULES_PER_INSTANCE_MAX };
  }

  async upsert(rules: RuleWrite[], author: WriteAuthor): Promise<WriteOutcome> {
    await this.#roomForChanges();
    return this.#written(upsertRules(this.#storage, rules, author));
  }

  async remove(keys: RuleKey[], author: WriteAuthor): Promise<WriteOutcome> {
    // Removing rules is what helps when they cannot be compiled. Edges then wait for the next base.
    await this.#roomForChanges().catch(() => {});
    return this.#written(deleteRules(this.#storage, keys, author));
  }

  async rollback(version: number, author: WriteAuthor): Promise<RollbackOutcome> {
    await this.#roomForChanges();
    await this.#compileEnded();
    const oldest = historyFloor(this.#storage.sql);
    const newest = this.#version();
    if (version < oldest || version > newest) {
      return failed({ reason: 'out-of-reach', oldest, newest });
    }
    return this.#written(restoreVersion(this.#storage, version, author));
  }

  async packedPage(query: RulePageQuery): Promise<PackedRulePage> {
    const { sql } = this.#storage;
    const total = query.withoutTotal === true ? 0 : ruleTotal(sql, query);
    return { packed: packedPage(sql, query), total, version: this.#version() };
  }

  async matching(keys: RuleKey[], userAgent: string, limit: number): Promise<MatchingRules> {
    const { sql } = this.#storage;
    const agents = await userAgentRulesIn(sql, userAgent, limit, () => scheduler.wait(0));
    const wanted = [...keys, ...agents.map((value): RuleKey => ({ type: 'userAgent', value }))];
    return { rules: rulesUnder(sql, wanted, limit), entries: entriesUnder(sql, keys), version: this.#version() };
  }

  async lists(): Promise<ListState[]> {
    return layerStates(this.#storage.sql);
  }

  async putList(settings: LayerSettings, nowMs: number): Promise<Result<ListState, TooManyLists>> {
    await this.#compileEnded();
    return this.#written(putList(this.#storage, settings, nowMs));
  }

  async removeList(name: string, nowMs: number): Promise<boolean> {
    await this.#compileEnded();
    const removed = removeList(this.#storage, name, nowMs);
    // The compile deletes its entries.
    if (removed) this.#alarmIn(COMPILE_QUIET_DELAY_MS);
    return removed;
  }

  async listKeys(name: string, after: string, limit: number): Promise<{ keys: string; revision: number } | null> {
    const { sql } = this.#storage;
    const list = rankedLists(sql).find((one) => one.name === name);
    return list ? { keys: keysAfter(sql, list.number, after, limit), revision: list.revision } : null;
  }

  async changeList(name: string, change: ListChange, nowMs: number): Promise<Result<ListState, RefusedListChange>> {
    await this.#roomForChanges();
    return this.#written(changeList(this.#storage, name, change, nowMs));
  }

  async roomForEntries(): Promise<number> {
    return Math.max(0, RULES_PER_INSTANCE_MAX - usedRoom(this.#storage.sql));
  }

  async history(
    limit: number,
    before: number | null,
  ): Promise<{ versions: HistoryEntry[]; version: number; oldest: number }> {
    const { sql } = this.#storage;
    return { versions: history(sql, limit, before), version: this.#version(), oldest: historyFloor(sql) };
  }

  async retire(nowMs: number): Promise<void> {
    markRuleBookRetired(this.#storage.sql, nowMs);
    await this.#storage.setAlarm(Date.now() + COMPILE_DELAY_MS);
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = Number.POSITIVE_INFINITY;
    if (!isRuleBookRetired(this.#storage.sql)) {
      // An alarm that throws is tried again a few times only; the compile sets another one.
      return this.compile().catch(() => {});
    }
    await this.#compileEnded();
    await eraseRuleBook(this.#storage, this.env.RULESETS, this.#instanceId);
    this.#contacts.forget();
    await this.#watch.forget();
  }

  compile(): Promise<void> {
    this.#compiling ??= this.#compileOnce();
    return this.#compiling;
  }

  async #compileOnce(): Promise<void> {
    const nowMs = Date.now();
    passExpiry(this.#storage, nowMs);
    const job = { storage: this.#storage, env: this.env, instanceId: this.#instanceId, nowMs };
    try {
      await this.#watch.during('compile', compileBases(job));
    } catch (error) {
      this.#compiling = null;
      this.#alarmIn(COMPILE_RETRY_MS);
      throw error;
    }
    this.#compiling = null;
    // What was written meanwhile may already require the next one.
    this.#compileSoonIfDue();
  }

  async #base(format?: string): Promise<BasePointer> {
    const base = currentBase(this.#storage.sql, format);
    if (base) return base;
    await this.compile();
    const first = currentBase(this.#storage.sql, format);
    if (!first) throw new Error('The RuleBook has no base after compiling one');
    return first;
  }

  #version(): number {
    return this.#storage.sql.exec<{ version: number }>('SELECT version FROM book').one().version;
  }

  /**
   * The version that edges may load. This is the newest, except after a rollback that is larger than a delta may be:
   * then edges keep their version until the new base is ready.
   */
  #publishedVersion(base: BasePointer): number {
    return lastVersionWithin(this.#storage.sql, base.version, 2 * DELTA_MAX_CHANGES) ?? this.#version();
  }

  async #roomForChanges(): Promise<void> {
    while (this.#changesSinceBase() > DELTA_MAX_CHANGES) await this.compile();
  }

  /**
   * A rollback, or another verdict for a list, can be larger than a delta may be. A base that was half read before it
   * could not be completed by a delta, so no compile may run meanwhile.
   */
  async #compileEnded(): Promise<void> {
    while (this.#compiling) await this.#compiling.catch(() => {});
  }

  #written<Outcome>(outcome: Outcome): Outcome {
    this.#compileSoonIfDue();
    return outcome;
  }

  #compileSoonIfDue(): void {
    if (this.#compiling || this.#watch.isFailing('compile')) return;
    const { sql } = this.#storage;
    const from = currentBase(sql)?.version ?? 0;
    const rules = usedRoom(sql);
    const due = deltaChangesShipped(sql, from) > Math.max(rules, SHIPPED_CHANGES_MIN);
    if (!due && changesSince(sql, from) <= DELTA_QUIET_CHANGES) return;
    this.#alarmIn(due ? COMPILE_DELAY_MS : COMPILE_QUIET_DELAY_MS);
  }

  #alarmIn(delayMs: number): void {
    const at = Date.now() + delayMs;
    if (at >= this.#alarmAt) return;
    this.#alarmAt = at;
    void this.#storage.setAlarm(at);
  }

  #changesSinceBase(): number {
    const base = currentBase(this.#storage.sql);
    return changesSince(this.#storage.sql, base?.version ?? 0);
  }
}

/** Stored in the book on first use, because an alarm may start the object without its name. */
function instanceIdOf(sql: SqlStorage): string {
  const [row] = sql.exec<{ instance_id: string }>('SELECT instance_id FROM book');
  if (!row) throw new Error('A RuleBook must be called by the name of its instance');
  return row.instance_id;
}
