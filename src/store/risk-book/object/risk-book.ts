/**
 * RiskBook: the Durable Object that stores an instance's sessions, and what its edges must learn at once. Sixteen
 * objects per instance hold sessions and one holds the lists (`client/session-books.ts`). It applies the pure
 * transitions of `risk/session-state.ts`, one event at a time. Tables: docs/storage-schema.md.
 */
import { DurableObject } from 'cloudflare:workers';
import type { TelemetryReport } from '../../../contract/edge/page-reports.ts';
import {
  crowded,
  type Lineage,
  lineageOf,
  NO_LINEAGE,
  opened,
  renewed,
  reported,
  type SessionState,
  type SessionVisitor,
} from '../../../risk/session-state.ts';
import { dropPast, listVersion, raiseListed, readLists, withdrawListed } from './session-lists.ts';
import type {
  OpenedScore,
  RaisedSession,
  RenewedSession,
  ReportedSession,
  RescoredSession,
  RiskBookRpc,
  SessionEvent,
  SessionLists,
  SessionPage,
  SessionQuery,
  SessionTerms,
} from '../rpc.ts';
import { openObject } from '../../object-schema.ts';
import { eraseRiskBook, riskBookEraseAt, riskBookSchema, markRiskBookRetired } from './erase-risk-book.ts';
import { sessionPage } from './session-page.ts';
import { SessionRows, type StoredSession } from './session-rows.ts';

/** Expired rows cost only space, so they are deleted once an hour at most. */
const MAINTENANCE_INTERVAL_MS = 3_600_000;
/** Pause between two deletions, so that waiting calls run first. */
const MORE_TO_DROP_MS = 1000;
/** An object that is not called may be evicted after a minute, so what waits is written before. */
const QUIET_MS = 10_000;

export class RiskBook extends DurableObject<ServiceEnv> implements RiskBookRpc {
  readonly #storage: DurableObjectStorage;
  #rows: SessionRows;
  #alarmAt: number | null = null;
  #quiet: ReturnType<typeof setTimeout> | undefined;

  constructor(ctx: DurableObjectState, env: ServiceEnv) {
    super(ctx, env);
    this.#storage = ctx.storage;
    openObject(ctx, env, riskBookSchema);
    this.#rows = new SessionRows(ctx.storage.sql);
  }

  async open(terms: SessionTerms, opening: string, lineage: Lineage): Promise<OpenedScore | null> {
    const { jti } = terms;
    if (this.#rows.hasEnded(jti)) return null;
    const known = this.#rows.read(jti, Date.now());
    if (known !== null && known.opening !== opening) return null;
    const state: SessionState = known?.state ?? (await this.#open(terms, opening, lineage));
    const { score, detectors, expiresAt, advance } = state;
    return { score, detectors, expiresAt, advanced: advance?.window ?? 0 };
  }

  async renew(terms: SessionTerms): Promise<RenewedSession | null> {
    const { jti, visitor, nowMs, worked } = terms;
    if (this.#rows.hasEnded(jti)) return null;
    const known = this.#current(terms);
    if (known !== null) {
      const after = renewed(known.state, visitor, nowMs, worked);
      return { ...this.#keep(jti, known, after), advance: after.advance };
    }
    const { score, detectors, advance } = await this.#open(terms, null, NO_LINEAGE);
    return { score, detectors, before: { score, detectors }, advance };
  }

  async report(event: SessionEvent, report: TelemetryReport): Promise<ReportedSession | 'ended' | null> {
    if (this.#rows.hasEnded(event.jti)) return 'ended';
    const known = this.#current(event);
    if (known === null) return null;
    const after = reported(known.state, report, event.nowMs);
    const isImplausible = after.telemetry.implausible > known.state.telemetry.implausible;
    return { ...this.#keep(event.jti, known, after), isImplausible, reports: after.telemetry.reports };
  }

  async crowd(event: SessionEvent, requests: number): Promise<RescoredSession | null> {
    const known = this.#current(event);
    return known === null ? null : this.#keep(event.jti, known, crowded(known.state, requests, event.nowMs));
  }

  async lineage(jti: string, visitor: SessionVisitor): Promise<Lineage> {
    const known = this.#rows.read(jti, Date.now());
    return known === null ? NO_LINEAGE : lineageOf(known.state, visitor);
  }

  async read(jti: string): Promise<SessionState | null> {
    return this.#rows.read(jti, Date.now())?.state ?? null;
  }

  async list(query: SessionQuery, nowMs: number): Promise<SessionPage> {
    return sessionPage(this.#storage.sql, this.#rows, query, nowMs);
  }

  async end(jti: string, until: number): Promise<boolean> {
    const known = this.#rows.end(jti, until);
    await this.#wake(until);
    return known;
  }

  async raise(session: RaisedSession, until: number): Promise<void> {
    raiseListed(this.#storage.sql, session, until);
    await this.#wake(until);
  }

  async withdraw(jti: string, until: number): Promise<void> {
    withdrawListed(this.#storage.sql, jti, until);
    await this.#wake(until);
  }

  async listVersion(): Promise<number> {
    return listVersion(this.#storage.sql);
  }

  async lists(nowMs: number): Promise<SessionLists> {
    return readLists(this.#storage.sql, nowMs);
  }

  async retire(nowMs: number): Promise<void> {
    const eraseAt = markRiskBookRetired(this.#storage.sql, nowMs);
    if (eraseAt !== null) await this.#wake(eraseAt, 0);
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#alarmAt = null;
    const eraseAt = riskBookEraseAt(this.#storage.sql);
    if (eraseAt !== null) {
      if (eraseAt > nowMs) return this.#wake(eraseAt, 0);
      clearTimeout(this.#quiet);
      await eraseRiskBook(this.#storage);
      this.#rows = new SessionRows(this.#storage.sql);
      return;
    }
    const next = [this.#rows.dropDue(nowMs), dropPast(this.#storage.sql, nowMs)].filter((at) => at !== null);
    if (next.length === 0) return;
    const due = Math.min(...next);
    await this.#wake(due, due <= nowMs ? MORE_TO_DROP_MS : MAINTENANCE_INTERVAL_MS);
  }

  async #open(terms: SessionTerms, opening: string | null, lineage: Lineage): Promise<ReturnType<typeof opened>> {
    const { jti, visitor, neighbours, environment, nowMs, openedAt, expiresAt, keptUntil, ignoredDetectors } = terms;
    const { threshold, windowSeconds } = terms.cycling;
    const cycles = { ...this.#rows.openedSince(neighbours.near, nowMs - windowSeconds * 1000), threshold };
    const fresh = opened(visitor, { nowMs, expiresAt }, cycles, lineage, environment, ignoredDetectors);
    const state = { ...fresh, openedAt };
    await this.#wake(this.#rows.insert(jti, state, neighbours, keptUntil, opening));
    return state;
  }

  /** The stored session, under what its instance ignores now. */
  #current({ jti, ignoredDetectors }: SessionEvent): StoredSession | null {
    const known = this.#rows.read(jti, Date.now());
    return known === null ? null : { ...known, state: { ...known.state, ignoredDetectors } };
  }

  #keep(jti: string, known: StoredSession, after: SessionState): RescoredSession {
    this.#rows.change(jti, known, after, Date.now());
    clearTimeout(this.#quiet);
    if (!this.#rows.waiting.isEmpty) this.#quiet = setTimeout(() => this.#rows.writeWaiting(), QUIET_MS);
    const { score, detectors } = known.state;
    return { score: after.score, detectors: after.detectors, before: { score, detectors } };
  }

  /** Wakes once an hour at most, but not later than the first row that is due after that. */
  async #wake(dueAt: number, notBeforeMs = MAINTENANCE_INTERVAL_MS): Promise<void> {
    const at = Math.max(dueAt, Date.now() + notBeforeMs);
    this.#alarmAt ??= await this.#storage.getAlarm();
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    await this.#storage.setAlarm(at);
  }
}
