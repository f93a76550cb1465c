/**
 * The properties of a rule other than its value, in little space. A plain rule is its verdict in two bits. A rule with
 * an expiry, a rollout or monitor mode has the fourth code and a row in a side table, sorted by rule number. A ruleset
 * with lists has one byte more for each rule: the number of its list.
 */
import { type Decision, decisions } from '../contract/vocabulary.ts';
import { ByteColumn, ShortColumn, WordColumn } from './columns.ts';
import type { Sections } from './layout.ts';
import { searchExact } from './number-table.ts';
import type { RuleContent } from './types.ts';

/** Two-bit code of a rule that has a row in the side table. Smaller codes are indexes into `decisions`. */
export const EXTRA = 3;
const MONITOR_FLAG = 4;
/** In the expiry column: never. Expiries after the year 2106 become this. */
const NEVER = 0xffff_ffff;
/** In the rollout column, which has hundredths of a percent: everyone. */
const EVERYONE = 0xffff;

export interface RuleExtra {
  verdict: Decision;
  mode: 'enforce' | 'monitor';
  /** Epoch seconds, or `null`. */
  expiry: number | null;
  /** Hundredths of a percent, or `null`. */
  rollout: number | null;
}

/** Rules of a block, for which one number says where their side rows begin. */
const BLOCK_RULES = 32;

function isPlain(rule: RuleContent): boolean {
  return rule.mode !== 'monitor' && rule.expiry === undefined && rule.rollout === undefined;
}

/** Codes and side rows of the rules of one kind, in the order in which they were added. */
export class MetaColumn {
  readonly #codes = new ByteColumn();
  /** How many rules before each block have a side row. */
  readonly #rowsBefore = new WordColumn();
  readonly #expiries = new WordColumn();
  readonly #rollouts = new ShortColumn();
  readonly #flags = new ByteColumn();
  /** As long as `#codes` once an entry of a list was added, and empty before. */
  readonly #lists = new ByteColumn();

  add(rule: RuleContent): void {
    if (rule.list !== undefined) this.#lists.fillTo(this.#codes.length);
    if (rule.list !== undefined || this.#lists.length > 0) this.#lists.push(rule.list ?? 0);
    if (this.#codes.length % BLOCK_RULES === 0) this.#rowsBefore.push(this.#flags.length);
    const verdict = decisions.indexOf(rule.verdict);
    if (isPlain(rule)) {
      this.#codes.push(verdict);
      return;
    }
    this.#codes.push(EXTRA);
    this.#expiries.push(rule.expiry === undefined ? NEVER : Math.max(0, Math.min(NEVER, Math.floor(rule.expiry))));
    this.#rollouts.push(rule.rollout === undefined ? EVERYONE : Math.round(rule.rollout * 100));
    this.#flags.push(verdict | (rule.mode === 'monitor' ? MONITOR_FLAG : 0));
  }

  /** Two-bit codes in the order in which the rules were added. */
  codes(): Uint8Array {
    return this.#codes.view();
  }

  trim(): void {
    for (const column of this.#columns()) column.trim();
  }

  /** How many rules of `order` have a side row. */
  extrasIn(order: Uint32Array): number {
    const codes = this.codes();
    let extras = 0;
    for (const item of order) if (codes[item] === EXTRA) extras++;
    return extras;
  }

  /** Writes the side rows of the rules in `order`, which are numbered from `firstRule`, and gives back all memory. */
  moveExtras(order: Uint32Array, firstRule: number, out: ExtraRows): void {
    const codes = this.codes();
    if (this.#lists.length > 0) out.moveLists(this.#lists.view(), order, firstRule);
    const blocks = this.#rowsBefore.view();
    for (let i = 0; i < order.length; i++) {
      const item = order[i] ?? 0;
      if (codes[item] !== EXTRA) continue;
      const block = Math.floor(item / BLOCK_RULES);
      let row = blocks[block] ?? 0;
      for (let before = block * BLOCK_RULES; before < item; before++) if (codes[before] === EXTRA) row++;
      out.push(firstRule + i, this.#expiries.at(row), this.#rollouts.at(row), this.#flags.at(row));
    }
    for (const column of this.#columns()) column.free();
  }

  #columns(): readonly (ByteColumn | ShortColumn | WordColumn)[] {
    return [this.#codes, this.#rowsBefore, this.#expiries, this.#rollouts, this.#flags, this.#lists];
  }
}

/** The side table of a snapshot that is being written, filled from its beginning. */
export class ExtraRows {
  readonly #sections: Sections;
  #row = 0;

  constructor(sections: Sections) {
    this.#sections = sections;
  }

  /** `lists`: of the rules as they were added. */
  moveLists(lists: Uint8Array, order: Uint32Array, firstRule: number): void {
    const { ruleLists } = this.#sections;
    for (let i = 0; i < order.length; i++) ruleLists[firstRule + i] = lists[order[i] ?? 0] ?? 0;
  }

  push(rule: number, expiry: number, rollout: number, flags: number): void {
    const { extraRules, extraExpiries, extraRollouts, extraFlags } = this.#sections;
    const row = this.#row++;
    extraRules[row] = rule;
    extraExpiries[row] = expiry;
    extraRollouts[row] = rollout;
    extraFlags[row] = flags;
  }
}

/** The side table of a snapshot. */
export class ExtraTable {
  readonly #rules: Uint32Array;
  readonly #expiries: Uint32Array;
  readonly #rollouts: Uint16Array;
  readonly #flags: Uint8Array;

  constructor(sections: Sections) {
    this.#rules = sections.extraRules;
    this.#expiries = sections.extraExpiries;
    this.#rollouts = sections.extraRollouts;
    this.#flags = sections.extraFlags;
  }

  /** Row of a rule, or -1. */
  row(rule: number): number {
    return searchExact(this.#rules, rule);
  }

  /** False when the rule has expired or the visitor is outside its rollout. The bucket is read only if there is one. */
  live(row: number, nowSeconds: number, visitor: { readonly rolloutBucket: number }): boolean {
    const expiry = this.#expiries[row] ?? 0;
    if (expiry !== NEVER && nowSeconds >= expiry) return false;
    const rollout = this.#rollouts[row] ?? 0;
    return rollout === EVERYONE || visitor.rolloutBucket < rollout;
  }

  read(row: number): RuleExtra {
    const flags = this.#flags[row] ?? 0;
    const expiry = this.#expiries[row] ?? NEVER;
    const rollout = this.#rollouts[row] ?? EVERYONE;
    return {
      verdict: decisions[flags & 3] ?? 'block',
      mode: flags & MONITOR_FLAG ? 'monitor' : 'enforce',
      expiry: expiry === NEVER ? null : expiry,
      rollout: rollout === EVERYONE ? null : rollout,
    };
  }
}
