/**
 * RuleBook: the one writer of an instance's edge access rules (design 4). A write is one version,
 * visible in the delta at once; compiling a new base happens in an alarm, in slices, so that neither
 * writers nor edges wait for it. State is SQLite (docs/storage-schema.md); files are in R2.
 */
import { DurableObject } from 'cloudflare:workers';
import { currentBase, servedBase } from './rule-book/bases.ts';
import type { BasePointer } from './rule-book/bases.ts';
import { changesSince, history, historyFloor, lastVersionWithin } from './rule-book/change-log.ts';
import type { HistoryEntry } from './rule-book/change-log.ts';
import { compileBase } from './rule-book/compile-base.ts';
import { DeltaFiles } from './rule-book/delta-files.ts';
import { matchingRules, rulePage, ruleTotal } from './rule-book/listing.ts';
import type { RulePageQuery } from './rule-book/listing.ts';
import type { RuleKey, RuleWrite, StoredRule } from './rule-book/rule-row.ts';
import { createTables } from './rule-book/schema.ts';
import { countRules, deleteRules, restoreVersion, upsertRules } from './rule-book/writes.ts';
import type { WriteAuthor, WriteOutcome } from './rule-book/writes.ts';

/** Changes since the base that call for a new one: a delta of this size is about 50 KB. */
const COMPILE_AFTER_CHANGES = 2000;
/** For large books a share of the rules, else each bulk import step would compile everything again. */
const COMPILE_AFTER_SHARE = 1 / 50;
/** Writers wait for the compile beyond this: bounds the delta that edges load (about 3 MB). */
const DELTA_MAX_CHANGES = 100_000;
/** Lets the batches of an import gather before the compile starts. */
const COMPILE_DELAY_MS = 1000;

export interface RulesVersion {
  base: BasePointer;
  delta: { version: number };
}

export interface RulePage {
  rules: StoredRule[];
  /** Exact number of rules under the filter. */
  total: number;
  version: number;
}

export type RollbackOutcome = WriteOutcome | { ok: false; reason: 'out-of-reach'; oldest: number; newest: number };

export class RuleBook extends DurableObject<ServiceEnv> {
  readonly #storage: DurableObjectStorage;
  readonly #instanceId: string;
  readonly #deltas: DeltaFiles;
  #compiling: Promise<void> | null = null;
  /** An alarm is set once and not pushed back by later writes, which would starve the compile. */
  #alarmSet = false;

  constructor(ctx: DurableObjectState, env: ServiceEnv) {
    super(ctx, env);
    this.#storage = ctx.storage;
    createTables(ctx.storage.sql);
    this.#instanceId = instanceIdOf(ctx);
    this.#deltas = new DeltaFiles(ctx.storage.sql, env, this.#instanceId);
  }

  /** What edges are told. Makes the first base, so that even an empty book has a valid one. */
  async currentVersion(): Promise<RulesVersion> {
    const base = await this.#base();
    return { base, delta: { version: this.#publishedVersion(base) } };
  }

  /** The signed changes from a base up to `version`; `null` for a base or version that is not served. */
  async delta(baseHash: string, version: number): Promise<Uint8Array | null> {
    const base = servedBase(this.#storage.sql, baseHash);
    if (!base || version < base.version || version > this.#version()) return null;
    return this.#deltas.file(base, version, Date.now());
  }

  async upsert(rules: RuleWrite[], author: WriteAuthor): Promise<WriteOutcome> {
    await this.#roomForChanges();
    return this.#written(upsertRules(this.#storage, rules, author));
  }

  async remove(keys: RuleKey[], author: WriteAuthor): Promise<WriteOutcome> {
    await this.#roomForChanges();
    return this.#written(deleteRules(this.#storage, keys, author));
  }

  /** Back to the rules of an earlier version, as a new version. */
  async rollback(version: number, author: WriteAuthor): Promise<RollbackOutcome> {
    await this.#roomForChanges();
    const oldest = historyFloor(this.#storage.sql);
    const newest = this.#version();
    if (version < oldest || version > newest) return { ok: false, reason: 'out-of-reach', oldest, newest };
    return this.#written(restoreVersion(this.#storage, version, author));
  }

  page(query: RulePageQuery): RulePage {
    const { sql } = this.#storage;
    return { rules: rulePage(sql, query), total: ruleTotal(sql, query), version: this.#version() };
  }

  /** Rules that can match a visitor; see `matchingRules`. */
  matching(keys: RuleKey[], userAgent: string, limit: number): { rules: StoredRule[]; version: number } {
    return { rules: matchingRules(this.#storage.sql, keys, userAgent, limit), version: this.#version() };
  }

  history(limit: number, before: number | null): { versions: HistoryEntry[]; version: number; oldest: number } {
    const { sql } = this.#storage;
    return { versions: history(sql, limit, before), version: this.#version(), oldest: historyFloor(sql) };
  }

  override async alarm(): Promise<void> {
    this.#alarmSet = false;
    await this.compile();
  }

  /** Compiles the present rules into a new base; a call while one runs waits for that one. */
  compile(): Promise<void> {
    this.#compiling ??= compileBase({
      storage: this.#storage,
      env: this.env,
      instanceId: this.#instanceId,
      now: Date.now(),
    }).finally(() => {
      this.#compiling = null;
      // What was written meanwhile may already call for the next one.
      this.#compileSoonIfDue();
    });
    return this.#compiling;
  }

  async #base(): Promise<BasePointer> {
    const base = currentBase(this.#storage.sql);
    if (base) return base;
    await this.compile();
    const first = currentBase(this.#storage.sql);
    if (!first) throw new Error('The RuleBook has no base after compiling one');
    return first;
  }

  #version(): number {
    return this.#storage.sql.exec<{ version: number }>('SELECT version FROM book').one().version;
  }

  /**
   * The version edges may load: the newest, except after a rollback larger than a delta may be, when
   * edges stay where they are until the new base is there.
   */
  #publishedVersion(base: BasePointer): number {
    return lastVersionWithin(this.#storage.sql, base.version, 2 * DELTA_MAX_CHANGES) ?? this.#version();
  }

  async #roomForChanges(): Promise<void> {
    while (this.#changesSinceBase() > DELTA_MAX_CHANGES) await this.compile();
  }

  #written<Outcome extends WriteOutcome>(outcome: Outcome): Outcome {
    this.#compileSoonIfDue();
    return outcome;
  }

  #compileSoonIfDue(): void {
    if (this.#alarmSet || this.#compiling) return;
    const limit = Math.max(COMPILE_AFTER_CHANGES, countRules(this.#storage.sql) * COMPILE_AFTER_SHARE);
    if (this.#changesSinceBase() <= limit) return;
    this.#alarmSet = true;
    void this.#storage.setAlarm(Date.now() + COMPILE_DELAY_MS);
  }

  #changesSinceBase(): number {
    const base = currentBase(this.#storage.sql);
    return changesSince(this.#storage.sql, base?.version ?? 0);
  }
}

/** Kept in the book on first use: an alarm may start the object without its name. */
function instanceIdOf(ctx: DurableObjectState): string {
  const { sql } = ctx.storage;
  if (ctx.id.name !== undefined) {
    sql.exec(
      'INSERT INTO book (id, instance_id, version, history_floor) VALUES (1, ?, 0, 0) ON CONFLICT DO NOTHING',
      ctx.id.name,
    );
  }
  const [row] = sql.exec<{ instance_id: string }>('SELECT instance_id FROM book');
  if (!row) throw new Error('A RuleBook is addressed by the name of its instance');
  return row.instance_id;
}
