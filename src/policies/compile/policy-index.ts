/** Which policies a request has to be compared with: those whose anchor it has, and those without one. */
import type { IpPrefix } from '../../address/ip.ts';
import { PrefixMap } from '../../address/prefix-table.ts';
import type { PolicyField } from '../../contract/vocabulary.ts';
import type { Anchor } from './anchors.ts';
import { factOf, isNamed, type Fact } from './compile-test.ts';
import { PathTree, PieceIndex } from './text-indexes.ts';
import { placeOfName, type NamedField, type Reads, type RequestView } from './request-view.ts';

/** Policies by a value of one field, and by the field's presence. */
interface ByValue {
  values: Map<string | number, number[]>;
  present: number[];
}

interface ByFact extends ByValue {
  read: (view: RequestView) => Fact;
}

/** One bit for each policy, in their order. */
type PolicyBits = Uint32Array;

export class PolicyIndex {
  readonly #reads: Reads;
  /** Those without an anchor. */
  readonly #always: PolicyBits;
  readonly #paths = { asWritten: new PathTree(), folded: new PathTree() };
  readonly #pathPieces = new PieceIndex();
  readonly #networks: PrefixMap<number>;
  readonly #facts: ByFact[] = [];
  readonly #factsByKey = new Map<string, ByFact>();
  /** By the place of the name. */
  readonly #named: Record<NamedField, ByValue[]> = { header: [], cookie: [], query: [] };
  readonly #namedAll: Record<NamedField, number[]> = { header: [], cookie: [], query: [] };

  /** The anchors of each policy; `null` for a policy without one. */
  constructor(reads: Reads, policies: readonly (readonly Anchor[] | null)[]) {
    this.#reads = reads;
    this.#always = new Uint32Array((policies.length + 31) >>> 5);
    const networks: [IpPrefix, number][] = [];
    for (const [policy, anchors] of policies.entries()) {
      if (anchors === null) set(this.#always, policy);
      for (const anchor of anchors ?? []) {
        if (anchor.kind === 'network') networks.push([anchor.network, policy]);
        else this.#addTo(anchor, policy);
      }
    }
    this.#networks = new PrefixMap(networks);
  }

  /** Room for one bit for each policy. */
  bits(): PolicyBits {
    return new Uint32Array(this.#always.length);
  }

  /** Those that may apply whatever the path is. */
  collect(view: RequestView, bits: PolicyBits): void {
    copyBits(this.#always, bits);
    if (this.#networks.size > 0) {
      setAll(bits, this.#networks.around(view.family, view.address));
    }
    const agents = this.#reads.userAgents;
    if (agents.size > 0) agents.visit(view.userAgent, (policies) => setAll(bits, policies));
    for (const { read, values, present } of this.#facts) mark(bits, read(view), values, present);
    if (this.#named.header.length > 0) this.#collectNamed('header', view, bits);
    if (this.#named.cookie.length > 0) this.#collectNamed('cookie', view, bits);
    if (this.#named.query.length > 0) this.#collectNamed('query', view, bits);
  }

  /** Those that may apply to this reading of the path. */
  collectByPath({ path, isFolded }: RequestView, bits: PolicyBits): void {
    const tree = isFolded ? this.#paths.folded : this.#paths.asWritten;
    if (path === undefined) {
      setAll(bits, tree.all);
      setAll(bits, this.#pathPieces.all);
      return;
    }
    tree.visit(path, (policies) => setAll(bits, policies));
    if (this.#pathPieces.size === 0) return;
    this.#pathPieces.visit(isFolded ? path : path.toLowerCase(), (policies) => setAll(bits, policies));
  }

  #collectNamed(field: NamedField, view: RequestView, bits: PolicyBits): void {
    const places = this.#named[field];
    const named = view.named(field);
    if (named === undefined) {
      setAll(bits, this.#namedAll[field]);
      return;
    }
    for (const place of named.present) {
      const known = places[place];
      if (!known) continue;
      mark(bits, named.values[place] ?? null, known.values, known.present);
      if (named.more?.has(place)) for (const policies of known.values.values()) setAll(bits, policies);
    }
  }

  #addTo(anchor: Exclude<Anchor, { kind: 'network' }>, policy: number): void {
    switch (anchor.kind) {
      case 'path':
        this.#paths.asWritten.add(anchor.path, anchor.isWhole, policy);
        this.#paths.folded.add(anchor.path.toLowerCase(), anchor.isWhole, policy);
        return;
      case 'piece':
        (anchor.field === 'path' ? this.#pathPieces : this.#reads.userAgents).add(anchor.piece, policy);
        return;
      case 'value': {
        const { values } = this.#byValue(anchor.field, anchor.name, policy);
        const policies = values.get(anchor.value);
        if (policies) policies.push(policy);
        else values.set(anchor.value, [policy]);
        return;
      }
      case 'present':
        this.#byValue(anchor.field, anchor.name, policy).present.push(policy);
    }
  }

  #byValue(field: PolicyField, name: string | undefined, policy: number): ByValue {
    if (isNamed(field)) {
      this.#namedAll[field].push(policy);
      const place = placeOfName(this.#reads, field, name ?? '');
      return (this.#named[field][place] ??= { values: new Map(), present: [] });
    }
    const key = `${field} ${name ?? ''}`;
    let fact = this.#factsByKey.get(key);
    if (!fact) {
      fact = { read: factOf(field, name) ?? (() => null), values: new Map(), present: [] };
      this.#factsByKey.set(key, fact);
      this.#facts.push(fact);
    }
    return fact;
  }
}

function mark(bits: PolicyBits, fact: Fact, values: ByValue['values'], present: readonly number[]): void {
  if (fact === null) return;
  if (typeof fact !== 'object') setAll(bits, values.get(fact));
  else for (const one of fact) setAll(bits, values.get(one));
  setAll(bits, present);
}

function setAll(bits: PolicyBits, policies: readonly number[] | undefined): void {
  if (policies === undefined) return;
  for (let at = 0; at < policies.length; at++) set(bits, policies[at]!);
}

/** Faster than the method of typed arrays for the few words that there are. */
export function copyBits(from: PolicyBits, to: PolicyBits): void {
  for (let word = 0; word < from.length; word++) to[word] = from[word]!;
}

function set(bits: PolicyBits, policy: number): void {
  bits[policy >>> 5]! |= 1 << (policy & 31);
}
