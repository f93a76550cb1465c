/** Collects user agent rules as folded bytes, then sorts and compiles them (see `substring-build.ts`). */
import { ByteColumn, WordColumn, lastOfEach } from './columns.ts';
import { type ExtraRows, MetaColumn } from './rule-meta.ts';
import { type SubstringSections, buildSubstrings } from './substring-build.ts';
import type { EdgeRule } from './types.ts';
import { FOLDED_BYTES_PER_UNIT_MAX, foldInto } from './user-agent-fold.ts';

export class UserAgentBuilder {
  readonly #text = new ByteColumn();
  readonly #ends = new WordColumn();
  readonly #meta = new MetaColumn();

  add(rule: EdgeRule): void {
    const room = this.#text.room(rule.value.length * FOLDED_BYTES_PER_UNIT_MAX);
    const end = foldInto(rule.value, room, this.#text.length);
    // The matcher uses 0 for a character that is in no pattern.
    if (end === this.#text.length || rule.value.includes('\0')) throw new TypeError('userAgent value is not canonical');
    this.#text.length = end;
    this.#ends.push(end);
    this.#meta.add(rule);
  }

  finish(firstRule: number, extras: ExtraRows): SubstringSections & { uaMeta: Uint8Array } {
    const text = this.#text.view();
    const ends = this.#ends.view();
    const start = (p: number): number => (p === 0 ? 0 : (ends[p - 1] ?? 0));
    const compare = (a: number, b: number): number => {
      let i = start(a);
      let j = start(b);
      const endA = ends[a] ?? 0;
      const endB = ends[b] ?? 0;
      for (; i < endA && j < endB; i++, j++) {
        const difference = (text[i] ?? 0) - (text[j] ?? 0);
        if (difference !== 0) return difference;
      }
      return endA - i - (endB - j);
    };
    const sorted = Uint32Array.from({ length: ends.length }, (_, p) => p).sort((a, b) => compare(a, b) || a - b);
    const order = lastOfEach(sorted, (a, b) => compare(a, b) === 0);

    const offsets = new Uint32Array(order.length + 1);
    for (let i = 0; i < order.length; i++) {
      const p = order[i] ?? 0;
      offsets[i + 1] = (offsets[i] ?? 0) + (ends[p] ?? 0) - start(p);
    }
    const kept = new Uint8Array(offsets[order.length] ?? 0);
    const uaMeta = new Uint8Array(order.length);
    const codes = this.#meta.codes();
    for (let i = 0; i < order.length; i++) {
      const p = order[i] ?? 0;
      kept.set(text.subarray(start(p), ends[p]), offsets[i]);
      uaMeta[i] = codes[p] ?? 0;
    }
    this.#meta.appendExtras(order, firstRule, extras);
    return { ...buildSubstrings({ text: kept, offsets }), uaMeta };
  }
}
