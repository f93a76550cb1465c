/** The part of a `RuleBook` that holds lists: what it can be asked, and what it returns. */
import type { Decision, EdgeRuleType } from '../../contract/vocabulary.ts';
import type { Result } from '../../result.ts';

export interface ListBookRpc {
  /** The lists in force, the one that owns a value that several have first. */
  lists(): Promise<ListState[]>;
  /** Creates a list without entries, or changes the settings of the one with this name. */
  putList(settings: LayerSettings, nowMs: number): Promise<Result<ListState, TooManyLists>>;
  /** The list and exactly its entries have no effect any more. `false`: there is no such list. */
  removeList(name: string, nowMs: number): Promise<boolean>;
  /** Keys of entries after a key, in their order, as one text (`src/lists/entry-key.ts`); `null`: no such list. */
  listKeys(name: string, after: string, limit: number): Promise<{ keys: string; revision: number } | null>;
  /** Removes entries and adds entries, as one version. */
  changeList(name: string, change: ListChange, nowMs: number): Promise<Result<ListState, RefusedListChange>>;
  /** How many more rules and entries the book takes. */
  roomForEntries(): Promise<number>;
}

export interface LayerSettings {
  name: string;
  verdict: Decision;
  mode: 'enforce' | 'monitor';
}

export interface ListState extends LayerSettings {
  entries: number;
  /** Rises with every change of its entries. */
  revision: number;
}

/** `add` and `remove`: keys of entries as one text. What is there already, or is not there, is no error. */
export interface ListChange {
  /** The change is made only if this is the list's revision. */
  ifRevision: number;
  add: string;
  remove: string;
}

export interface ListedEntry {
  list: string;
  verdict: Decision;
  mode: 'enforce' | 'monitor';
  type: EdgeRuleType;
  value: string;
}

export interface TooManyRules {
  reason: 'too-many-rules';
  limit: number;
  /** The type that has a limit of its own, or `null` for the limit of all rules together. */
  type: 'userAgent' | null;
}

export interface TooManyLists {
  reason: 'too-many-lists';
  limit: number;
}

export type RefusedListChange =
  | TooManyRules
  | { reason: 'unknown-list' }
  /** Somebody else changed its entries. */
  | { reason: 'stale'; expected: number; current: number };
