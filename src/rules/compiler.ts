/**
 * Compiles rules into a snapshot. Rules are streamed in, and only the bits of their canonical values are kept, in
 * growing columns, so that a million rules compile inside a Durable Object. The order of adding does not change any
 * decision, except that the later of two rules with the same type and value replaces the earlier.
 */
import { NumberSetBuilder, Ja4SetBuilder, countryKey } from './exact-sets.ts';
import { parseCidr, parseIpInto } from '../address/ip.ts';
import { JA4_WORDS } from '../address/ja4.ts';
import { rulesetFormats } from '../contract/edge/formats.ts';
import { blankSnapshot, sealSnapshot } from './layout.ts';
import { type ListLayer, encodeLayers } from './list-layers.ts';
import { PrefixBuilder } from './prefix-build.ts';
import { ExtraRows } from './rule-meta.ts';
import type { EdgeRule, RuleContent } from './types.ts';
import { UserAgentBuilder } from './user-agent-build.ts';

export interface SnapshotMeta {
  instanceId: string;
  /** Monotonic per instance. */
  version: number;
  /** Epoch milliseconds. */
  createdAtMs: number;
  /** The lists that have an effect. */
  lists?: readonly ListLayer[];
}

/** The length of a single address in a prefix table: one more than the longest prefix. */
export const SINGLE_V4 = 33;
export const SINGLE_V6 = 129;

export class RulesetCompiler {
  readonly #meta: SnapshotMeta;
  readonly #v4 = new PrefixBuilder(1);
  readonly #v6 = new PrefixBuilder(4);
  readonly #asns = new NumberSetBuilder(32);
  readonly #countries = new NumberSetBuilder(16);
  readonly #ja4s = new Ja4SetBuilder();
  readonly #userAgents = new UserAgentBuilder();
  readonly #words = new Uint32Array(4);
  #hasEntries = false;

  constructor(meta: SnapshotMeta) {
    this.#meta = meta;
  }

  /** `rule.value` must be canonical (see `canonicalValue`). @throws TypeError when it cannot be parsed. */
  add(rule: EdgeRule): void {
    if (rule.list !== undefined) this.#hasEntries = true;
    switch (rule.type) {
      case 'ip': {
        const family = parseIpInto(rule.value, this.#words);
        if (family === 0) throw new TypeError('ip value is not canonical');
        if (family === 4) this.#v4.add(this.#words, SINGLE_V4, rule);
        else this.#v6.add(this.#words, SINGLE_V6, rule);
        return;
      }
      case 'ipMask': {
        const prefix = parseCidr(rule.value);
        if (!prefix) throw new TypeError('ipMask value is not canonical');
        (prefix.family === 4 ? this.#v4 : this.#v6).add(prefix.words, prefix.prefixLength, rule);
        return;
      }
      case 'asn': {
        const asn = Number(rule.value);
        if (asn !== asn >>> 0) throw new TypeError('asn value is not canonical');
        this.#asns.add(asn, rule);
        return;
      }
      case 'countryCode':
        this.#countries.add(countryKey(rule.value), rule);
        return;
      case 'ja4Hash':
        this.#ja4s.add(rule);
        return;
      case 'userAgent':
        this.#userAgents.add(rule);
    }
  }

  /** An `ipMask` rule without its text. Host bits are clear; `words` has one word or four. */
  addNetwork(family: 4 | 6, words: Uint32Array, prefixLength: number, rule: RuleContent): void {
    if (rule.list !== undefined) this.#hasEntries = true;
    (family === 4 ? this.#v4 : this.#v6).add(words, prefixLength, rule);
  }

  /**
   * The file. Its buffer has `roomAfter` more bytes, for a signature. The rules are moved into it kind by kind, so that
   * at most every rule is in memory twice. The compiler is empty afterwards.
   */
  finish(roomAfter = 0, format: string = rulesetFormats[0]): Uint8Array {
    const v4 = this.#v4.sort();
    const v6 = this.#v6.sort();
    const asns = this.#asns.sort();
    const countries = this.#countries.sort();
    const ja4s = this.#ja4s.sort();
    const userAgents = this.#userAgents.sort();
    const instanceId = new TextEncoder().encode(this.#meta.instanceId);
    const lists = encodeLayers(this.#meta.lists ?? []);
    const kinds = [v4, v6, asns, countries, ja4s, userAgents];
    const extras = kinds.reduce((sum, kind) => sum + kind.extras, 0);
    const { bytes, sections: s } = blankSnapshot(
      {
        instanceId: instanceId.length,
        v4Index: v4.indexLength,
        v4Keys: v4.count,
        v4Meta: v4.count,
        v4Parents: v4.count,
        v6Index: v6.indexLength,
        v6Keys: 4 * v6.count,
        v6Meta: v6.count,
        v6Parents: v6.count,
        asnKeys: asns.count,
        asnMeta: asns.count,
        countryKeys: countries.count,
        countryMeta: countries.count,
        ja4Index: ja4s.indexLength,
        ja4Keys: JA4_WORDS * ja4s.count,
        ja4Meta: ja4s.count,
        ...userAgents.lengths,
        extraRules: extras,
        extraExpiries: extras,
        extraRollouts: extras,
        extraFlags: extras,
        lists: lists.length,
        ruleLists: this.#hasEntries ? kinds.reduce((sum, { count }) => sum + count, 0) : 0,
      },
      roomAfter,
    );

    const [firstV6 = 0, firstAsn = 0, firstCountry = 0, firstJa4 = 0, firstUserAgent = 0] = sums(
      kinds.map(({ count }) => count),
    );
    const rows = new ExtraRows(s);
    s.instanceId.set(instanceId);
    s.lists.set(lists);
    this.#v4.move({ index: s.v4Index, keys: s.v4Keys, meta: s.v4Meta, parents: s.v4Parents }, 0, rows);
    this.#v6.move({ index: s.v6Index, keys: s.v6Keys, meta: s.v6Meta, parents: s.v6Parents }, firstV6, rows);
    this.#asns.move(s.asnKeys, s.asnMeta, firstAsn, rows);
    this.#countries.move(s.countryKeys, s.countryMeta, firstCountry, rows);
    this.#ja4s.move(s.ja4Keys, s.ja4Meta, s.ja4Index, firstJa4, rows);
    this.#userAgents.move(s, firstUserAgent, rows);
    sealSnapshot(bytes, format, this.#meta.version, this.#meta.createdAtMs);
    return bytes;
  }
}

/** The sum of the values up to each. */
function sums(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}
