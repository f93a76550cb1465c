/**
 * A base and a delta as one ruleset that the edge matches with a request's signals. The base's bytes do not change: the
 * delta's rules are searched as well, and the base rules that it removes or replaces are marked as dead in a bit set.
 * A match reuses its buffers and allocates memory only for the rules that fire.
 */
import { type Decision, decisions, type EdgeRuleType } from '../contract/vocabulary.ts';
import { restrictiveness } from './decision-table.ts';
import type { Delta } from './delta.ts';
import { Hits } from './hits.ts';
import { parseIpInto } from '../address/ip.ts';
import type { ListLayer } from './list-layers.ts';
import { EXTRA } from './rule-meta.ts';
import type { Snapshot } from './snapshot.ts';
import type { MatchSignals, MatchedRule, RuleMatch } from './types.ts';

/** Verdict and mode of rules without a row in the side table, by code. */
const plain = decisions.map((verdict) => ({ verdict, mode: 'enforce' as const }));
const NOTHING: RuleMatch = Object.freeze({ network: null, client: null, fired: Object.freeze([]) });

export interface Ruleset {
  readonly instanceId: string;
  readonly version: number;
  /** Rules of the base that are not dead, and rules of the delta, expired ones included. */
  readonly ruleCount: number;
  /**
   * The returned rules spell their ids when they are read. `ofLists`: whether `fired` has the most specific entry of a
   * list, which stands for all of them, or every one.
   */
  match(signals: MatchSignals, nowSeconds: number, ofLists?: 'most specific' | 'every entry'): RuleMatch;
}

/** `delta` must belong to `base`: the caller compares `delta.baseHash` with the base's hash. */
export function createRuleset(base: Snapshot, delta: Delta | null): Ruleset {
  return new LayeredRuleset(base, delta);
}

/** The base rules that the delta removes or replaces, one bit each, and their number; `null` when there are none. */
function deadRules(base: Snapshot, delta: Delta): { bits: Uint32Array; count: number } | null {
  const bits = new Uint32Array((base.ruleCount + 31) >>> 5);
  let count = 0;
  const kill = (rule: number): void => {
    const bit = 1 << (rule & 31);
    if (rule < 0 || (bits[rule >>> 5]! & bit) !== 0) return;
    bits[rule >>> 5]! |= bit;
    count++;
  };
  for (const { type, value } of delta.removals) kill(base.ruleOf(type, value));
  const { upserts } = delta;
  base.shared(upserts, kill);
  return count === 0 ? null : { bits, count };
}

class LayeredRuleset implements Ruleset {
  readonly instanceId: string;
  readonly version: number;
  readonly ruleCount: number;
  readonly #base: Snapshot;
  readonly #overlay: Snapshot | null;
  readonly #dead: Uint32Array | null;
  readonly #lists: readonly (ListLayer | undefined)[];
  readonly #network = new Hits();
  readonly #client = new Hits();
  readonly #words = new Uint32Array(4);

  constructor(base: Snapshot, delta: Delta | null) {
    this.#base = base;
    this.instanceId = base.instanceId;
    this.version = delta ? delta.version : base.version;
    this.#lists = (delta?.upserts ?? base).lists;
    this.#overlay = delta && delta.upserts.ruleCount > 0 ? delta.upserts : null;
    const dead = delta ? deadRules(base, delta) : null;
    this.#dead = dead ? dead.bits : null;
    this.ruleCount = base.ruleCount - (dead?.count ?? 0) + (this.#overlay?.ruleCount ?? 0);
  }

  match(
    signals: MatchSignals,
    nowSeconds: number,
    ofLists: 'most specific' | 'every entry' = 'most specific',
  ): RuleMatch {
    const isWhole = ofLists === 'every entry';
    const network = this.#network;
    const client = this.#client;
    network.clear();
    client.clear();
    const family = this.#readAddress(signals);
    this.#search(this.#base, 0, family, signals);
    if (this.#overlay) {
      this.#search(this.#overlay, 1, family, signals);
      network.sortByRank();
    }
    if (network.count === 0 && client.count === 0) return NOTHING;

    const fired: FiredRule[] = [];
    let networkRule: FiredRule | null = null;
    for (let i = 0; i < network.count; i++) {
      const rule = this.#live(network.refs[i]!, nowSeconds, signals);
      if (!rule) continue;
      if (!isWhole && rule.list !== null && fired.some(({ list }) => list === rule.list)) continue;
      fired.push(rule);
      if (!networkRule && rule.mode === 'enforce') networkRule = rule;
    }
    const clientRule = client.count === 0 ? null : this.#clientRules(fired, nowSeconds, signals);
    return fired.length === 0 ? NOTHING : { network: networkRule, client: clientRule, fired };
  }

  /** Fills `#words` and returns the address's family; 0 when it is unknown. */
  #readAddress({ ip, parsedIp }: MatchSignals): 0 | 4 | 6 {
    const words = this.#words;
    if (!parsedIp) return ip === null ? 0 : parseIpInto(ip, words);
    const count = parsedIp.family === 4 ? 1 : 4;
    for (let w = 0; w < count; w++) words[w] = parsedIp.words[w]!;
    return parsedIp.family;
  }

  #search(snapshot: Snapshot, source: number, family: 0 | 4 | 6, signals: MatchSignals): void {
    const network = this.#network;
    const client = this.#client;
    network.source = source;
    client.source = source;
    if (family !== 0) snapshot.findAddress(family, this.#words, network);
    if (signals.asn !== null) snapshot.findAsn(signals.asn, network);
    if (signals.countryCode !== null) snapshot.findCountry(signals.countryCode, network);
    if (signals.ja4 !== null) snapshot.findJa4(signals.ja4, client);
    snapshot.findUserAgents(signals.userAgent, client);
  }

  /** Appends the client rules that fired, sorted by id, and returns the most restrictive enforced one. */
  #clientRules(fired: FiredRule[], nowSeconds: number, visitor: MatchSignals): FiredRule | null {
    const client = this.#client;
    const live: FiredRule[] = [];
    for (let i = 0; i < client.count; i++) {
      const rule = this.#live(client.refs[i]!, nowSeconds, visitor);
      if (rule) live.push(rule);
    }
    if (live.length > 1) live.sort((a, b) => (a.id < b.id ? -1 : 1));
    let strictest: FiredRule | null = null;
    for (const rule of live) {
      fired.push(rule);
      if (rule.mode === 'monitor') continue;
      if (!strictest || restrictiveness[rule.verdict] > restrictiveness[strictest.verdict]) strictest = rule;
    }
    return strictest;
  }

  /** The rule of a reference, or `null` when it is dead, has expired or does not apply to this visitor. */
  #live(ref: number, nowSeconds: number, visitor: MatchSignals): FiredRule | null {
    const rule = ref >>> 1;
    let snapshot = this.#base;
    if ((ref & 1) === 1) snapshot = this.#overlay ?? snapshot;
    else if (this.#dead && (this.#dead[rule >>> 5]! & (1 << (rule & 31))) !== 0) return null;
    const list = snapshot.listOf(rule);
    if (list !== 0) {
      const layer = this.#lists[list];
      return layer === undefined ? null : new FiredRule(ref, snapshot, layer, layer.name);
    }
    const code = snapshot.code(rule);
    if (code !== EXTRA) return new FiredRule(ref, snapshot, plain[code]!, null);
    const row = snapshot.extras.row(rule);
    if (row < 0 || !snapshot.extras.live(row, nowSeconds, visitor)) return null;
    return new FiredRule(ref, snapshot, snapshot.extras.read(row), null);
  }
}

/**
 * A rule that matched, as the number of its row. Its id is a text, and is spelled when a record, an explanation or a
 * log reads it: spelling takes longer than finding the rule.
 */
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
