/**
 * An opened snapshot: compiled tables that are views of the file's own bytes. Opening checks the magic, the length, and
 * every number that is used as an index, so that no later call can throw. It checks no content: the file's signature
 * covers every byte and is verified first. Rules are numbered from 0 in the order of the sections; a delta removes a
 * base rule by its number.
 */
import { failed, ok, type Result } from '../result.ts';
import type { EdgeRuleType } from '../contract/vocabulary.ts';
import { SINGLE_V4, SINGLE_V6, countryNumber } from './compiler.ts';
import { type Hits, RANK_ASN, RANK_COUNTRY, RANK_PREFIX } from './hits.ts';
import { formatV4, formatV6, parseCidr, parseIp } from '../address/ip.ts';
import { firstJa4Word, JA4_WORDS, packJa4, unpackJa4 } from '../address/ja4.ts';
import { PrefixTable } from '../address/prefix-table.ts';
import { SortedKeys } from '../address/sorted-keys.ts';
import { type Sections, readSnapshot } from './layout.ts';
import { type ListLayer, openLayers } from './list-layers.ts';
import { NumberTable, rises } from './number-table.ts';
import { ExtraTable } from './rule-meta.ts';
import { SubstringMatcher } from './substring-match.ts';
import { foldedBytes } from './user-agent-fold.ts';

/** A hostile user agent can contain thousands of patterns, each of which is spelled. */
const decoder = new TextDecoder();

interface Tables {
  v4: PrefixTable;
  v6: PrefixTable;
  ja4s: SortedKeys;
  userAgents: SubstringMatcher;
  lists: readonly (ListLayer | undefined)[];
}

/** The rule number of an entry; -1 for no entry. */
const numbered = (first: number, entry: number): number => (entry < 0 ? -1 : first + entry);

/**
 * Never throws. The snapshot uses `bytes` itself, or a copy if they are not aligned to 8 bytes. The caller has checked
 * their signature, or has compiled them itself.
 */
export function openSnapshot(bytes: Uint8Array): Result<Snapshot, string> {
  const read = readSnapshot(bytes);
  if (!read.ok) return read;
  const { sections: s, version, createdAtMs } = read.value;
  const firstV6 = s.v4Keys.length;
  const firstAsn = firstV6 + s.v6Meta.length;
  const firstUserAgent = firstAsn + s.asnKeys.length + s.countryKeys.length + s.ja4Meta.length;
  const v4 = PrefixTable.open({ keys: s.v4Keys, meta: s.v4Meta, parents: s.v4Parents, index: s.v4Index }, 1);
  const v6 = PrefixTable.open({ keys: s.v6Keys, meta: s.v6Meta, parents: s.v6Parents, index: s.v6Index }, 4);
  const ja4s = SortedKeys.open(s.ja4Meta.length, s.ja4Keys, JA4_WORDS, s.ja4Index);
  const userAgents = SubstringMatcher.open(s, firstUserAgent);
  if (!v4 || !v6) return failed('prefixes');
  if (!ja4s) return failed('ja4');
  if (!userAgents) return failed('userAgents');
  const setsFit = s.asnMeta.length === s.asnKeys.length && s.countryMeta.length === s.countryKeys.length;
  if (!setsFit || !rises(s.asnKeys) || !rises(s.countryKeys)) return failed('numbers');
  const extras = s.extraRules.length;
  if (
    s.extraExpiries.length !== extras ||
    s.extraRollouts.length !== extras ||
    s.extraFlags.length !== extras ||
    !rises(s.extraRules)
  ) {
    return failed('extras');
  }
  const lists = openLayers(s.lists);
  if (!lists) return failed('lists');
  const snapshot = new Snapshot(s, { v4, v6, ja4s, userAgents, lists }, version, createdAtMs);
  const hasListPerRule = s.ruleLists.length === 0 || s.ruleLists.length === snapshot.ruleCount;
  return hasListPerRule ? ok(snapshot) : failed('lists');
}

export class Snapshot {
  readonly instanceId: string;
  readonly version: number;
  readonly createdAtMs: number;
  readonly ruleCount: number;
  readonly extras: ExtraTable;
  /** The lists of its version, by number. */
  readonly lists: readonly (ListLayer | undefined)[];
  readonly #hasEntries: boolean;
  readonly #sections: Sections;
  readonly #tables: Tables;
  readonly #firstV6: number;
  readonly #firstAsn: number;
  readonly #firstCountry: number;
  readonly #firstJa4: number;
  readonly #firstUserAgent: number;
  readonly #asns: NumberTable;
  readonly #countries: NumberTable;
  readonly #ja4Words = new Uint32Array(JA4_WORDS);

  constructor(sections: Sections, tables: Tables, version: number, createdAtMs: number) {
    this.#sections = sections;
    this.#tables = tables;
    this.version = version;
    this.createdAtMs = createdAtMs;
    this.instanceId = new TextDecoder().decode(sections.instanceId);
    this.extras = new ExtraTable(sections);
    this.lists = tables.lists;
    this.#hasEntries = sections.ruleLists.length > 0;
    this.#asns = new NumberTable(sections.asnKeys);
    this.#countries = new NumberTable(Uint32Array.from(sections.countryKeys));
    this.#firstV6 = tables.v4.count;
    this.#firstAsn = this.#firstV6 + tables.v6.count;
    this.#firstCountry = this.#firstAsn + sections.asnKeys.length;
    this.#firstJa4 = this.#firstCountry + sections.countryKeys.length;
    this.#firstUserAgent = this.#firstJa4 + tables.ja4s.count;
    this.ruleCount = this.#firstUserAgent + tables.userAgents.count;
  }

  /** Adds every rule whose prefix or address contains the address in `words`, longest first. */
  findAddress(family: 4 | 6, words: Uint32Array, hits: Hits): void {
    const table = family === 4 ? this.#tables.v4 : this.#tables.v6;
    const first = family === 4 ? 0 : this.#firstV6;
    for (let entry = table.longest(words); entry >= 0; entry = table.around(entry, words)) {
      hits.push(first + entry, RANK_PREFIX + table.length(entry));
    }
  }

  findAsn(asn: number, hits: Hits): void {
    const entry = this.#asns.entryOf(asn);
    if (entry >= 0) hits.push(this.#firstAsn + entry, RANK_ASN);
  }

  /** `code` is in upper case. */
  findCountry(code: string, hits: Hits): void {
    const entry = code.length === 2 ? this.#countries.entryOf(countryNumber(code)) : -1;
    if (entry >= 0) hits.push(this.#firstCountry + entry, RANK_COUNTRY);
  }

  findJa4(fingerprint: string, hits: Hits): void {
    const { ja4s } = this.#tables;
    if (ja4s.count === 0) return;
    // Nearly every fingerprint is in no rule, and its first word says so.
    const first = firstJa4Word(fingerprint);
    this.#ja4Words.fill(0xffff_ffff)[0] = first;
    const last = ja4s.floor(this.#ja4Words);
    if (last < 0 || ja4s.words[last * JA4_WORDS] !== first || !packJa4(fingerprint, this.#ja4Words)) return;
    const entry = ja4s.entryOf(this.#ja4Words);
    if (entry >= 0) hits.push(this.#firstJa4 + entry, RANK_PREFIX);
  }

  findUserAgents(userAgent: string, hits: Hits): void {
    this.#tables.userAgents.find(userAgent, hits);
  }

  /** An index into `decisions`, or `EXTRA` when the rule has a row in the side table. */
  code(rule: number): number {
    const { v4, v6 } = this.#tables;
    const { asnMeta, countryMeta, ja4Meta, uaMeta } = this.#sections;
    if (rule < this.#firstV6) return v4.code(rule);
    if (rule < this.#firstAsn) return v6.code(rule - this.#firstV6);
    if (rule < this.#firstCountry) return asnMeta[rule - this.#firstAsn]! & 3;
    if (rule < this.#firstJa4) return countryMeta[rule - this.#firstCountry]! & 3;
    if (rule < this.#firstUserAgent) return ja4Meta[rule - this.#firstJa4]! & 3;
    return uaMeta[rule - this.#firstUserAgent]! & 3;
  }

  /** The number of the list whose entry this rule is; 0 for a rule of the operator. */
  listOf(rule: number): number {
    return this.#hasEntries ? this.#sections.ruleLists[rule]! : 0;
  }

  type(rule: number): EdgeRuleType {
    const { v4, v6 } = this.#tables;
    if (rule < this.#firstV6) return v4.length(rule) >= SINGLE_V4 ? 'ip' : 'ipMask';
    if (rule < this.#firstAsn) return v6.length(rule - this.#firstV6) >= SINGLE_V6 ? 'ip' : 'ipMask';
    if (rule < this.#firstCountry) return 'asn';
    if (rule < this.#firstJa4) return 'countryCode';
    return rule < this.#firstUserAgent ? 'ja4Hash' : 'userAgent';
  }

  /** The canonical value, formatted from the table. */
  value(rule: number): string {
    const { v4, v6, ja4s, userAgents } = this.#tables;
    const { asnKeys, countryKeys } = this.#sections;
    if (rule < this.#firstV6) {
      const text = formatV4(v4.words(rule)[0]!);
      const length = v4.length(rule);
      return length >= SINGLE_V4 ? text : `${text}/${length}`;
    }
    if (rule < this.#firstAsn) {
      const entry = rule - this.#firstV6;
      const [w0, w1, w2, w3] = v6.words(entry);
      const text = formatV6(w0!, w1!, w2!, w3!);
      const length = v6.length(entry);
      return length >= SINGLE_V6 ? text : `${text}/${length}`;
    }
    if (rule < this.#firstCountry) return String(asnKeys[rule - this.#firstAsn]);
    if (rule < this.#firstJa4) {
      const key = countryKeys[rule - this.#firstCountry]!;
      return String.fromCharCode(key >>> 8, key & 255);
    }
    if (rule < this.#firstUserAgent) return unpackJa4(ja4s.at(rule - this.#firstJa4), 0);
    return decoder.decode(userAgents.pattern(rule - this.#firstUserAgent));
  }

  /** The number of the rule with this canonical value, or -1. */
  ruleOf(type: EdgeRuleType, value: string): number {
    const { v4, v6, ja4s, userAgents } = this.#tables;
    switch (type) {
      case 'ip':
      case 'ipMask': {
        const parsed = type === 'ip' ? parseIp(value) : parseCidr(value);
        if (!parsed) return -1;
        const single = parsed.family === 4 ? SINGLE_V4 : SINGLE_V6;
        const length = 'prefixLength' in parsed ? (parsed.prefixLength as number) : single;
        const words = Uint32Array.from(parsed.words);
        return parsed.family === 4 ? v4.entryOf(words, length) : numbered(this.#firstV6, v6.entryOf(words, length));
      }
      case 'asn':
        return numbered(this.#firstAsn, this.#asns.entryOf(Number(value)));
      case 'countryCode':
        return numbered(this.#firstCountry, this.#countries.entryOf(countryNumber(value)));
      case 'ja4Hash':
        return packJa4(value, this.#ja4Words) ? numbered(this.#firstJa4, ja4s.entryOf(this.#ja4Words)) : -1;
      case 'userAgent':
        return numbered(this.#firstUserAgent, userAgents.entryOf(foldedBytes(value)));
    }
  }

  /**
   * Calls `found` with the number of each rule that `other` has too, by type and value. It compares the tables' bits
   * without formatting values, in a loop for each type: a new isolate runs this once, for some ten thousand rules, in
   * code that is not compiled yet.
   */
  shared(other: Snapshot, found: (rule: number) => void): void {
    const theirs = other.#tables;
    const ours = this.#tables;
    const numbersFrom = (first: number) => (entry: number) => {
      if (entry >= 0) found(first + entry);
    };
    const v4 = numbersFrom(0);
    for (let i = 0; i < theirs.v4.count; i++) v4(ours.v4.entryOf(theirs.v4.words(i), theirs.v4.length(i)));
    const v6 = numbersFrom(this.#firstV6);
    for (let i = 0; i < theirs.v6.count; i++) v6(ours.v6.entryOf(theirs.v6.words(i), theirs.v6.length(i)));
    const asn = numbersFrom(this.#firstAsn);
    for (const key of other.#sections.asnKeys) asn(this.#asns.entryOf(key));
    const country = numbersFrom(this.#firstCountry);
    for (const key of other.#sections.countryKeys) country(this.#countries.entryOf(key));
    const ja4 = numbersFrom(this.#firstJa4);
    for (let i = 0; i < theirs.ja4s.count; i++) ja4(ours.ja4s.entryOf(theirs.ja4s.at(i)));
    const userAgent = numbersFrom(this.#firstUserAgent);
    for (let p = 0; p < theirs.userAgents.count; p++) userAgent(ours.userAgents.entryOf(theirs.userAgents.pattern(p)));
  }
}
