/**
 * What a `RuleBook` can be asked, and what it returns: one method is one call over RPC. Callers
 * (`client.ts`) and the object (`object/`) share this file and no other code of each other.
 */
import type { Decision, EdgeRuleType } from '../../contract/vocabulary.ts';
import type { Result } from '../../result.ts';
import type { ListBookRpc, ListedEntry, TooManyRules } from './list-rpc.ts';
import type { RuleKey, RuleWrite, StoredRule } from './rule-row.ts';

export interface RuleBookRpc extends ListBookRpc {
  /**
   * The version that edges should hold. Compiles the first base, so that an empty book has a valid one too. `by`: the
   * edge that asks, which made contact. `format`: of the base, if not the newest.
   */
  currentVersion(by?: EdgeCaller, format?: string): Promise<RulesVersion>;
  /**
   * The signed changes from a base up to `version`; `null` for a base or version that is not served. `by`: the edge that
   * takes them.
   */
  delta(baseHash: string, version: number, by?: EdgeCaller): Promise<Uint8Array | null>;
  /**
   * Compares the file of the current base with its hash, and compiles the base again where it is damaged or gone:
   * `refused` because an edge could not load it, `due` once an hour.
   */
  checkBase(reason: 'refused' | 'due'): Promise<void>;
  /** An edge made contact, and what that showed of it. */
  noteEdge(sighting: EdgeSighting): Promise<void>;
  /** The edges that made contact, the last one first, the version that they should hold, and how full the book is. */
  edges(): Promise<{ edges: SeenEdge[]; version: number; rules: number; rulesMax: number }>;
  upsert(rules: RuleWrite[], author: WriteAuthor): Promise<WriteOutcome>;
  remove(keys: RuleKey[], author: WriteAuthor): Promise<WriteOutcome>;
  /** Restores the rules of an earlier version, as a new version. */
  rollback(version: number, author: WriteAuthor): Promise<RollbackOutcome>;
  /** Callers use `rulePage` of `client.ts`, which unpacks it. */
  packedPage(query: RulePageQuery): Promise<PackedRulePage>;
  /**
   * Rules that can match a visitor: those under `keys` (each prefix of the address, its network, country and
   * fingerprint) and each user agent rule whose text is part of `userAgent`, which must be folded as the values are. And
   * the entries of lists under the keys, those of the list that owns a value first.
   */
  matching(keys: RuleKey[], userAgent: string, limit: number): Promise<MatchingRules>;
  /** Versions, newest first, below `before` when it is given. */
  history(limit: number, before: number | null): Promise<{ versions: HistoryEntry[]; version: number; oldest: number }>;
  /** Erases the book within seconds, with retries: its instance was deleted. */
  retire(nowMs: number): Promise<void>;
  /** Compiles the present rules into a new base. A call while a compile runs waits for that one. */
  compile(): Promise<void>;
}

export interface MatchingRules {
  rules: StoredRule[];
  entries: ListedEntry[];
  version: number;
}

/** An edge is known by its client JWT. */
export interface EdgeCaller {
  jti: string;
  /** Epoch milliseconds. */
  at: number;
}

/** What a call of an edge shows of it. A field that is absent shows nothing. */
export interface EdgeSighting extends EdgeCaller {
  /** Rules that it has taken, by their version or as the base of this hash. */
  rulesVersion?: number;
  baseHash?: string;
  configVersion?: string;
  build?: string;
  colo?: string;
}

export interface SeenEdge {
  jti: string;
  /** Epoch milliseconds. */
  contactAt: number;
  /** The newest version that it has taken; `null` while it has taken none under this client JWT. */
  rulesVersion: number | null;
  /** When the first version that it lacks was written; `null` while it lacks none, or is not known to. */
  behindSince: number | null;
  configVersion: string | null;
  configAt: number | null;
  build: string | null;
  colo: string | null;
}

/** A compiled base: the SHA-256 of its payload, and the version at which reading its rules began. */
export interface BasePointer {
  hash: string;
  version: number;
}

export interface RulesVersion {
  base: BasePointer;
  delta: { version: number };
}

export type WriteKind = 'create' | 'delete' | 'import' | 'rollback';

export interface WriteAuthor {
  /** Epoch milliseconds. */
  nowMs: number;
  /** API key id. */
  actor: string;
  kind: WriteKind;
  /** The write is made only if this is the current version. */
  ifVersion?: number | undefined;
}

export interface WriteCounts {
  version: number;
  created: number;
  updated: number;
  deleted: number;
  /** The first ten that changed, by type and value. */
  first: RuleChange[];
}

export interface RuleChange extends RuleKey {
  /** `null`: there was none. */
  before: RuleWrite | null;
  /** `null`: there is none any more. */
  after: RuleWrite | null;
}

export type WriteOutcome = Result<WriteCounts, RefusedWrite>;
export type RefusedWrite = RuleSetTooLarge | StaleVersion;

/** Somebody else has changed the rules since the caller read them. */
interface StaleVersion {
  reason: 'stale';
  expected: number;
  current: number;
}

/** What a batch exceeds. Nothing of it is stored. */
export type RuleSetTooLarge = TooManyRules | TooMuchText;

/** The user agent rules repeat themselves or each other too much. */
interface TooMuchText {
  reason: 'too-much-text';
  /** Bytes of text, or states of the automaton. */
  measure: 'bytes' | 'states';
  limit: number;
  /** With the refused batch. */
  needed: number;
  /** The rule of the batch that needs most. */
  largest: string;
}

/** The version is older than the log reaches, or does not exist yet. */
interface VersionOutOfReach {
  reason: 'out-of-reach';
  oldest: number;
  newest: number;
}

export type RollbackOutcome = Result<WriteCounts, RefusedWrite | VersionOutOfReach>;

export interface RuleFilter {
  type?: EdgeRuleType;
  verdict?: Decision;
  /** Start of the canonical value; letter case does not matter. */
  valuePrefix?: string;
}

export interface RulePageQuery extends RuleFilter {
  /** The last rule of the page before. */
  after?: RuleKey;
  limit: number;
  /** Skips the total: later pages of one listing have it already, and counting costs more than reading. */
  withoutTotal?: boolean;
}

export interface PackedRulePage {
  /** For `storedRules`. */
  packed: string;
  /** Exact number of rules under the filter; 0 when it was not requested. */
  total: number;
  version: number;
}

export interface HistoryEntry {
  version: number;
  /** Epoch milliseconds. */
  at: number;
  by: string;
  kind: WriteKind;
  created: number;
  updated: number;
  deleted: number;
  /** The version that a rollback restored. */
  restores?: number;
}
