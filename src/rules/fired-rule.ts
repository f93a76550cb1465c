/**
 * A rule that matched, as the number of its row. Its id is a text, and is spelled when a record, an explanation or a
 * log reads it: spelling takes longer than finding the rule. The ids of frequent rules are kept, so that they are
 * spelled once.
 */
import type { Decision, EdgeRuleType } from '../contract/vocabulary.ts';
import type { Snapshot } from './snapshot.ts';
import type { MatchedRule } from './types.ts';

/** Rules whose id text is kept. A power of two; about 600 KB when full. */
const IDS_KEPT = 4096;

/** `type:canonicalValue` of rules, by their references (see `hits.ts`). */
export class RuleIds {
  readonly #refs = new Uint32Array(IDS_KEPT).fill(0xffff_ffff);
  readonly #ids = Array<string>(IDS_KEPT).fill('');

  of(ref: number, snapshot: Snapshot): string {
    const slot = Math.imul(ref, 0x9e3779b1) >>> (32 - Math.log2(IDS_KEPT));
    if (this.#refs[slot] !== ref) {
      this.#ids[slot] = `${snapshot.type(ref >>> 1)}:${snapshot.value(ref >>> 1)}`;
      this.#refs[slot] = ref;
    }
    return this.#ids[slot]!;
  }
}

export class FiredRule implements MatchedRule {
  readonly verdict: Decision;
  readonly mode: 'enforce' | 'monitor';
  /** The name of the list whose entry it is. */
  readonly list: string | null;
  readonly #ref: number;
  readonly #snapshot: Snapshot;
  readonly #ids: RuleIds;
  #name: string | null = null;

  constructor(
    ref: number,
    snapshot: Snapshot,
    ids: RuleIds,
    { verdict, mode }: { verdict: Decision; mode: 'enforce' | 'monitor' },
    list: string | null,
  ) {
    this.verdict = verdict;
    this.mode = mode;
    this.list = list;
    this.#ref = ref;
    this.#snapshot = snapshot;
    this.#ids = ids;
  }

  get type(): EdgeRuleType {
    return this.#snapshot.type(this.#ref >>> 1);
  }

  get id(): string {
    return this.list === null ? this.#spelled() : `list:${this.list}`;
  }

  get entry(): string | undefined {
    return this.list === null ? undefined : this.#spelled();
  }

  toJSON(): MatchedRule {
    const { id, entry, type, verdict, mode } = this;
    return { id, entry, type, verdict, mode };
  }

  #spelled(): string {
    return (this.#name ??= this.#ids.of(this.#ref, this.#snapshot));
  }
}
