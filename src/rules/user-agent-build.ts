/** Collects user agent rules as folded bytes, then sorts and compiles them (see `substring-build.ts`). */
import { ByteColumn, WordColumn, lastOfEach } from './columns.ts';
import { type ExtraRows, MetaColumn } from './rule-meta.ts';
import { type SubstringLengths, type SubstringSections, planSubstrings, writeSubstrings } from './substring-build.ts';
import type { EdgeRule } from './types.ts';
import { FOLDED_BYTES_PER_UNIT_MAX, foldInto } from './user-agent-fold.ts';

export class UserAgentBuilder {
  readonly #text = new ByteColumn();
  readonly #ends = new WordColumn();
  readonly #meta = new MetaColumn();
  #order = new Uint32Array(0);
  #paths = new Uint16Array(0);

  add(rule: EdgeRule): void {
    const room = this.#text.room(rule.value.length * FOLDED_BYTES_PER_UNIT_MAX);
    const end = foldInto(rule.value, room, this.#text.length);
    // The matcher uses 0 for a character that is in no pattern.
    if (end === this.#text.length || rule.value.includes('\0')) throw new TypeError('userAgent value is not canonical');
    this.#text.length = end;
    this.#ends.push(end);
    this.#meta.add(rule);
  }

  /** Ends adding. Returns how many rules there are and what their sections need. */
  sort(): { count: number; extras: number; lengths: SubstringLengths & { uaMeta: number } } {
    this.#text.trim();
    this.#ends.trim();
    this.#meta.trim();
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
    this.#order = lastOfEach(sorted, (a, b) => compare(a, b) === 0);
    const count = this.#order.length;
    const { paths, lengths } = planSubstrings(count, (p) => {
      const item = this.#order[p] ?? 0;
      return text.subarray(start(item), ends[item]);
    });
    this.#paths = paths;
    return { count, extras: this.#meta.extrasIn(this.#order), lengths: { ...lengths, uaMeta: count } };
  }

  /** Fills the sections and gives back all memory. */
  move(sections: SubstringSections & { uaMeta: Uint8Array }, firstRule: number, extras: ExtraRows): void {
    const order = this.#order;
    const text = this.#text.view();
    const ends = this.#ends.view();
    const codes = this.#meta.codes();
    const { uaOffsets, uaText, uaMeta } = sections;
    let at = 0;
    for (let i = 0; i < order.length; i++) {
      const p = order[i] ?? 0;
      const pattern = text.subarray(p === 0 ? 0 : ends[p - 1], ends[p]);
      uaText.set(pattern, at);
      at += pattern.length;
      uaOffsets[i + 1] = at;
      uaMeta[i] = codes[p] ?? 0;
    }
    this.#text.free();
    this.#ends.free();
    this.#meta.moveExtras(order, firstRule, extras);
    writeSubstrings(sections, this.#paths);
  }
}
