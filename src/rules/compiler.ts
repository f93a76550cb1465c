/**
 * Compiles rules into a snapshot. Rules are streamed in, and only the bits of their canonical values are kept, in
 * growing columns, so that a million rules compile inside a Durable Object. The order of adding does not change any
 * decision, except that the later of two rules with the same type and value replaces the earlier.
 */
import { parseCidr, parseIpInto } from '../address/ip.ts';
import { JA4_WORDS, packJa4 } from '../address/ja4.ts';
import { rulesetFormats } from '../contract/edge/formats.ts';
import { KeyBuilder } from './key-builder.ts';
import { blankSnapshot, sealSnapshot } from './layout.ts';
import { type ListLayer, encodeLayers } from './list-layers.ts';
import { ExtraRows } from './rule-meta.ts';
import type { EdgeRule, RuleContent } from './types.ts';
import { UserAgentBuilder } from './user-agent-build.ts';

interface SnapshotMeta {
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

/** `XX` → `0x5858`. */
export function countryNumber(code: string): number {
  return (code.charCodeAt(0) << 8) | code.charCodeAt(1);
}

export class RulesetCompiler {
  readonly #meta: SnapshotMeta;
  readonly #v4 = new KeyBuilder(1);
  readonly #v6 = new KeyBuilder(4);
  readonly #asns = new KeyBuilder(1);
  readonly #countries = new KeyBuilder(1, 16);
  readonly #ja4s = new KeyBuilder(JA4_WORDS);
  readonly #userAgents = new UserAgentBuilder();
  readonly #words = new Uint32Array(JA4_WORDS);
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
        if (family === 4) this.#v4.add(this.#words, rule, SINGLE_V4);
        else this.#v6.add(this.#words, rule, SINGLE_V6);
        return;
      }
      case 'ipMask': {
        const prefix = parseCidr(rule.value);
        if (!prefix) throw new TypeError('ipMask value is not canonical');
        (prefix.family === 4 ? this.#v4 : this.#v6).add(prefix.words, rule, prefix.prefixLength);
        return;
      }
      case 'asn': {
        const asn = Number(rule.value);
        if (asn !== asn >>> 0) throw new TypeError('asn value is not canonical');
        this.#asns.add([asn], rule);
        return;
      }
      case 'countryCode':
        this.#countries.add([countryNumber(rule.value)], rule);
        return;
      case 'ja4Hash':
        if (!packJa4(rule.value, this.#words)) throw new TypeError('ja4Hash value is not canonical');
        this.#ja4s.add(this.#words, rule);
        return;
      case 'userAgent':
        this.#userAgents.add(rule);
    }
  }

  /** An `ipMask` rule without its text. Host bits are clear; `words` has one word or four. */
  addNetwork(family: 4 | 6, words: Uint32Array, prefixLength: number, rule: RuleContent): void {
    if (rule.list !== undefined) this.#hasEntries = true;
    (family === 4 ? this.#v4 : this.#v6).add(words, rule, prefixLength);
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
    this.#v4.movePrefixes({ index: s.v4Index, keys: s.v4Keys, meta: s.v4Meta, parents: s.v4Parents }, 0, rows);
    this.#v6.movePrefixes({ index: s.v6Index, keys: s.v6Keys, meta: s.v6Meta, parents: s.v6Parents }, firstV6, rows);
    this.#asns.move({ keys: s.asnKeys, meta: s.asnMeta }, firstAsn, rows);
    this.#countries.move({ keys: s.countryKeys, meta: s.countryMeta }, firstCountry, rows);
    this.#ja4s.moveIndexed({ index: s.ja4Index, keys: s.ja4Keys, meta: s.ja4Meta }, firstJa4, rows);
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
