/**
 * Policies ready for requests, compiled once for each config. A request is compared with the policies that the index finds
 * for it, in their order, up to the first enforced one that decides.
 */
import type { Policy, PolicyAction } from '../../contract/management/policy-set/policy.ts';
import {
  NO_OUTCOME,
  stricterEnd,
  stricterOutcome,
  type FiredPolicy,
  type PolicyEnd,
  type PolicyOutcome,
} from '../outcome.ts';
import type { PolicyRequest } from '../request.ts';
import { anchorsOf, type Anchor } from './anchors.ts';
import { ExpressionCompiler, NO, UNKNOWN, type Evaluate } from './compile-test.ts';
import { PolicyIndex, copyBits } from './policy-index.ts';
import { RequestView, newReads, type Reads } from './request-view.ts';

interface CompiledPolicy {
  name: string;
  applies: Evaluate;
  action: PolicyAction;
  isEnforced: boolean;
  fired: FiredPolicy;
  /** What it decides; `null` where the search goes on. */
  end: PolicyEnd | null;
}

/** One search, in one reading of the path. */
interface Search {
  outcome: PolicyOutcome;
  /** Enforced policies of which nobody knows whether they apply, before the one that ended the search. */
  unsure: readonly CompiledPolicy[];
}

export interface PolicyPreview {
  outcome: PolicyOutcome;
  /** Names of the other policies that may apply: it depends on what the log does not keep. */
  unsure: readonly string[];
}

export interface CompiledPolicies {
  size: number;
  /** Of a newer release: left out. */
  skipped: number;
  /** The strictest of all readings of the request's path. Of what nobody knows, the stricter answer counts. */
  evaluate(request: PolicyRequest): PolicyOutcome;
  /**
   * Of a request of which some things are unknown, as if of the policies that may apply those did that `applying` names,
   * and the others did not.
   */
  preview(request: PolicyRequest, applying?: ReadonlySet<string>): PolicyPreview;
}

const NO_POLICIES: CompiledPolicies = {
  size: 0,
  skipped: 0,
  evaluate: () => NO_OUTCOME,
  preview: () => ({ outcome: NO_OUTCOME, unsure: [] }),
};
const NO_NAMES: ReadonlySet<string> = new Set();
const QUIET: Search = { outcome: NO_OUTCOME, unsure: [] };

/** A policy that reads a limit which is not among `limitNames` is left out. */
export function compilePolicies(policies: readonly Policy[], limitNames: ReadonlySet<string>): CompiledPolicies {
  if (policies.length === 0) return NO_POLICIES;
  const reads = newReads();
  const compiler = new ExpressionCompiler(reads);
  const compiled: CompiledPolicy[] = [];
  const anchors: (readonly Anchor[] | null)[] = [];
  for (const { name, when, then, mode } of policies) {
    const applies = isKnown(then, limitNames) ? compiler.compile(when) : null;
    if (applies === null) continue;
    anchors.push(anchorsOf(when)?.anchors ?? null);
    const end = endOf(name, then);
    const fired = { id: `policy:${name}`, verdict: end?.verdict?.action ?? ('allow' as const), mode };
    compiled.push({ name, applies, action: then, isEnforced: mode === 'enforce', fired, end });
  }
  return new PolicyList(
    compiled,
    new PolicyIndex(reads, anchors),
    { reads, hasCapitals: compiler.hasCapitals },
    policies.length - compiled.length,
  );
}

function isKnown(then: PolicyAction, limitNames: ReadonlySet<string>): boolean {
  if (then.action === 'limit') return limitNames.has(then.limit);
  return ['allow', 'challenge', 'block', 'redirect', 'skipSession', 'origin'].includes(then.action);
}

function endOf(name: string, then: PolicyAction): PolicyEnd | null {
  switch (then.action) {
    case 'allow':
    case 'block':
      return { verdict: { name, action: then.action, level: 0 }, redirect: null };
    case 'challenge':
      return { verdict: { name, action: 'challenge', level: then.level ?? 0 }, redirect: null };
    case 'redirect':
      return { verdict: null, redirect: { name, location: then.location, status: then.status } };
    default:
      return null;
  }
}

class PolicyList implements CompiledPolicies {
  readonly skipped: number;
  readonly #policies: readonly CompiledPolicy[];
  readonly #index: PolicyIndex;
  readonly #reads: Reads;
  readonly #hasCapitals: boolean;
  /** Used again by every request: an evaluation never waits. */
  readonly #common: Uint32Array;
  readonly #found: Uint32Array;

  constructor(
    policies: readonly CompiledPolicy[],
    index: PolicyIndex,
    { reads, hasCapitals }: { reads: Reads; hasCapitals: boolean },
    skipped: number,
  ) {
    this.#policies = policies;
    this.#index = index;
    this.#reads = reads;
    this.#hasCapitals = hasCapitals;
    this.skipped = skipped;
    this.#common = index.bits();
    this.#found = index.bits();
  }

  get size(): number {
    return this.#policies.length;
  }

  evaluate(request: PolicyRequest): PolicyOutcome {
    const view = new RequestView(request, this.#reads);
    this.#index.collect(view, this.#common);
    if (request.paths === null) {
      view.readAs(undefined, false);
      return strictest(this.#search(view));
    }
    let outcome: PolicyOutcome | null = null;
    for (const path of request.paths) {
      view.readAs(path, false);
      const asWritten = strictest(this.#search(view));
      outcome = outcome === null ? asWritten : stricterOutcome(outcome, asWritten);
      const folded = path.toLowerCase();
      if (folded === path && !this.#hasCapitals) continue;
      view.readAs(folded, true);
      const inLowerCase = strictest(this.#search(view));
      if (inLowerCase !== asWritten) outcome = stricterOutcome(outcome, inLowerCase);
    }
    return outcome ?? NO_OUTCOME;
  }

  preview(request: PolicyRequest, applying: ReadonlySet<string> = NO_NAMES): PolicyPreview {
    const view = new RequestView(request, this.#reads);
    this.#index.collect(view, this.#common);
    const unsure = new Set<string>();
    let outcome: PolicyOutcome | null = null;
    const read = (path: string | undefined, isFolded: boolean): void => {
      view.readAs(path, isFolded);
      const found = this.#search(view, applying);
      outcome = outcome === null ? found.outcome : stricterOutcome(outcome, found.outcome);
      for (const { name } of found.unsure) unsure.add(name);
    };
    for (const path of request.paths ?? [undefined]) {
      read(path, false);
      const folded = path?.toLowerCase();
      if (folded !== undefined && (folded !== path || this.#hasCapitals)) read(folded, true);
    }
    return { outcome: outcome ?? NO_OUTCOME, unsure: [...unsure] };
  }

  #search(view: RequestView, applying: ReadonlySet<string> = NO_NAMES): Search {
    const found = this.#found;
    copyBits(this.#common, found);
    this.#index.collectByPath(view, found);
    let search: {
      outcome: PolicyOutcome & { fired: FiredPolicy[]; limits: string[] };
      unsure: CompiledPolicy[];
    } | null = null;
    for (let word = 0; word < found.length; word++) {
      for (let bits = found[word]!; bits !== 0; bits &= bits - 1) {
        const policy = this.#policies[word * 32 + 31 - Math.clz32(bits & -bits)]!;
        const truth = policy.applies(view);
        if (truth === NO) continue;
        search ??= { outcome: { ...NO_OUTCOME, fired: [], limits: [] }, unsure: [] };
        const { outcome, unsure } = search;
        if (truth === UNKNOWN && !applying.has(policy.name)) {
          if (policy.isEnforced) unsure.push(policy);
          continue;
        }
        outcome.fired.push(policy.fired);
        if (!policy.isEnforced) continue;
        if (policy.end !== null) {
          search.outcome = { ...outcome, ...policy.end, isOpen: false };
          return search;
        }
        if (policy.action.action === 'limit') addOnce(outcome.limits, policy.action.limit);
        else if (policy.action.action === 'origin') outcome.origin ??= policy.action.origin;
        else outcome.skipSession = true;
      }
    }
    return search ?? QUIET;
  }
}

/** What the request gets if every policy applies that may make it stricter. */
function strictest({ outcome, unsure }: Search): PolicyOutcome {
  let result = outcome;
  for (const { end, action, fired } of unsure) {
    let stricter = result;
    if (end !== null) stricter = stricterEnd(result, end);
    else if (action.action === 'limit')
      stricter = { ...result, limits: [...new Set([...result.limits, action.limit])] };
    if (stricter !== result) result = { ...stricter, fired: [...result.fired, fired] };
  }
  return result;
}

function addOnce(names: string[], name: string): void {
  if (!names.includes(name)) names.push(name);
}
