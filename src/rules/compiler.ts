/**
 * Compiles rules into a snapshot. Rules are streamed in, and only the bits of their canonical values are kept, in
 * growing columns, so that a million rules compile inside a Durable Object. The order of adding does not change any
 * decision, except that the later of two rules with the same type and value replaces the earlier.
 */
import { NumberSetBuilder, Ja4SetBuilder, countryKey } from './exact-sets.ts';
import { parseCidr, parseIpInto } from '../address/ip.ts';
import { writeSnapshot } from './layout.ts';
import { PrefixBuilder } from './prefix-build.ts';
import { ExtraRows } from './rule-meta.ts';
import type { EdgeRule } from './types.ts';
import { UserAgentBuilder } from './user-agent-build.ts';

export interface SnapshotMeta {
  instanceId: string;
  /** Monotonic per instance. */
  version: number;
  /** Epoch milliseconds. */
  createdAtMs: number;
}

/** The length of a single address in a prefix table: one more than the longest prefix. */
export const SINGLE_V4 = 33;
export const SINGLE_V6 = 129;

export class RulesetCompiler {
  readonly #meta: SnapshotMeta;
  readonly #v4 = new PrefixBuilder(1);
  readonly #v6 = new PrefixBuilder(4);
  readonly #asns = new NumberSetBuilder<Uint32Array>(32);
  readonly #countries = new NumberSetBuilder<Uint16Array>(16);
  readonly #ja4s = new Ja4SetBuilder();
  readonly #userAgents = new UserAgentBuilder();
  readonly #words = new Uint32Array(4);

  constructor(meta: SnapshotMeta) {
    this.#meta = meta;
  }

  /** `rule.value` must be canonical (see `canonicalValue`). @throws TypeError when it cannot be parsed. */
  add(rule: EdgeRule): void {
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

  finish(): Uint8Array {
    const extras = new ExtraRows();
    let firstRule = 0;
    const v4 = this.#v4.finish(firstRule, extras);
    firstRule += v4.count;
    const v6 = this.#v6.finish(firstRule, extras);
    firstRule += v6.count;
    const asns = this.#asns.finish(firstRule, extras);
    firstRule += asns.meta.length;
    const countries = this.#countries.finish(firstRule, extras);
    firstRule += countries.meta.length;
    const ja4s = this.#ja4s.finish(firstRule, extras);
    firstRule += ja4s.meta.length;
    const userAgents = this.#userAgents.finish(firstRule, extras);

    return writeSnapshot(
      {
        instanceId: new TextEncoder().encode(this.#meta.instanceId),
        v4Index: v4.index,
        v4Keys: v4.keys,
        v4Meta: Uint8Array.from(v4.meta),
        v4Parents: v4.parents,
        v6Index: v6.index,
        v6Keys: v6.keys,
        v6Meta: v6.meta,
        v6Parents: v6.parents,
        asnKeys: asns.keys,
        asnMeta: asns.meta,
        countryKeys: countries.keys,
        countryMeta: countries.meta,
        ja4Index: ja4s.index,
        ja4Keys: ja4s.keys,
        ja4Meta: ja4s.meta,
        ...userAgents,
        extraRules: extras.rules.view(),
        extraExpiries: extras.expiries.view(),
        extraRollouts: extras.rollouts.view(),
        extraFlags: extras.flags.view(),
      },
      this.#meta.version,
      this.#meta.createdAtMs,
    );
  }
}
