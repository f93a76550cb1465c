/**
 * A rule that matched, as the number of its row. Its id is a text, and is spelled when a record, an explanation or a
 * log reads it: spelling takes longer than finding the rule.
 */
import type { Decision, EdgeRuleType } from '../contract/vocabulary.ts';
import type { Snapshot } from './snapshot.ts';
import type { MatchedRule } from './types.ts';

export class FiredRule implements MatchedRule {
  readonly verdict: Decision;
  readonly mode: 'enforce' | 'monitor';
  /** The name of the list whose entry it is. */
  readonly list: string | null;
  readonly #ref: number;
  readonly #snapshot: Snapshot;
  #name: string | null = null;

  constructor(
    ref: number,
    snapshot: Snapshot,
    { verdict, mode }: { verdict: Decision; mode: 'enforce' | 'monitor' },
    list: string | null,
  ) {
    this.verdict = verdict;
    this.mode = mode;
    this.list = list;
    this.#ref = ref;
    this.#snapshot = snapshot;
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
    const rule = this.#ref >>> 1;
    return (this.#name ??= `${this.#snapshot.type(rule)}:${this.#snapshot.value(rule)}`);
  }
}
