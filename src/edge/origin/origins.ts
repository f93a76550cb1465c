/**
 * Which origin gets a request: the one that a policy names, else the one that has the request's host, else that of the
 * edge's environment. A named origin that this edge cannot call is a failure: its requests go nowhere else.
 */
import type { OriginForm } from '../../contract/management/policy-set/policy-set-form.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { RequestContext } from '../decide/context.ts';
import type { EdgeEnvironment, OriginTarget } from '../environment.ts';
import type { Count } from '../feed/upstream.ts';
import { hostName } from '../../address/host-name.ts';

/** `why`: for the log and the operator. */
export interface UncallableOrigin {
  kind: 'uncallable';
  why: string;
}

export interface OriginState {
  /** Empty for the environment's own. */
  readonly name: string;
  readonly target: Result<OriginTarget, UncallableOrigin>;
  /** Calls in a row that did not reach it, or reached this gate again, since its config was loaded. */
  failures: number;
}

export class Origins {
  readonly #own: OriginState;
  readonly #surroundings: OriginSurroundings;
  readonly #count: Count;
  /** What the maps were made from. */
  #forms: readonly OriginForm[] = [];
  #byName = new Map<string, OriginState>();
  #byHost = new Map<string, OriginState>();

  constructor(surroundings: OriginSurroundings, count: Count) {
    this.#own = { name: '', target: ok(surroundings.origin), failures: 0 };
    this.#surroundings = surroundings;
    this.#count = count;
  }

  of({ config, facts, origin }: Pick<RequestContext, 'config' | 'facts' | 'origin'>): OriginState {
    this.#load(config);
    if (origin !== null)
      return this.#byName.get(origin) ?? { name: origin, target: uncallable('it is not known'), failures: 0 };
    if (this.#byHost.size === 0) return this.#own;
    return this.#byHost.get(hostName(facts.target.host)) ?? this.#own;
  }

  /** `status`: of its response; `null` where there was none, or it was this gate's own. */
  called(origin: OriginState, status: number | null): void {
    const { name } = origin;
    origin.failures = status === null ? origin.failures + 1 : 0;
    if (name === '') return;
    this.#count(`named_origin_requests{origin="${name}"}`);
    if (status === null) this.#count(`named_origin_failures{origin="${name}"}`);
    else if (status >= 500) this.#count(`named_origin_errors{origin="${name}"}`);
  }

  /** The environment's own first. */
  states(config: RequestContext['config']): OriginState[] {
    this.#load(config);
    return [this.#own, ...this.#byName.values()];
  }

  /** Once for each config. */
  #load(config: RequestContext['config']): void {
    if (config === null || config.origins === this.#forms) return;
    this.#forms = config.origins;
    this.#byName = new Map();
    this.#byHost = new Map();
    for (const form of config.origins) {
      const state = { name: form.name, target: namedOrigin(form, this.#surroundings), failures: 0 };
      this.#byName.set(form.name, state);
      for (const host of form.hosts) this.#byHost.set(host, state);
    }
  }
}

/**
 * What a named origin is for this edge. The instance's settings name it, and the edge's environment says what may be
 * called: a binding has to be there, and an address must be a name that is not of the own machine.
 */
export type OriginSurroundings = Pick<EdgeEnvironment, 'origin' | 'originBinding' | 'isZoneOpen'>;

/**
 * A loopback address, or a name whose last label begins with a letter, which no spelling of an IPv4 address does. Which
 * names belong to private networks is checked where the service stores them
 * (`contract/management/policy-set/origin-address.ts`).
 */
const ADDRESS =
  /^https?:\/\/(?:(localhost|127\.0\.0\.1|\[::1])|(?:[\w-]+\.)+[a-z][\w-]*\.?)(?::\d+)?(?:\/[^?#\\\s]*)?$/;

function uncallable(why: string): { ok: false; error: UncallableOrigin } {
  return failed({ kind: 'uncallable', why });
}

export function namedOrigin(
  { kind, url = '', binding = '' }: OriginForm,
  { origin, originBinding, isZoneOpen }: OriginSurroundings,
): Result<OriginTarget, UncallableOrigin> {
  if (kind === 'zone') return isZoneOpen ? ok({ kind }) : uncallable('no zone that it can call');
  if (kind === 'binding') {
    const bound = originBinding(binding);
    return bound && 'fetch' in bound
      ? ok({ kind, fetcher: bound as Fetcher, base: null })
      : uncallable(`no service binding ${binding}`);
  }
  if (kind !== 'url') return uncallable('unknown kind');
  const found = ADDRESS.exec(url);
  const isCallable = found && (found[1] === undefined || isLoopback(origin));
  return isCallable ? ok({ kind, base: url, resolveOverride: null }) : uncallable('not a public address');
}

/** An edge for trials on one machine has its own origin there. */
function isLoopback(origin: OriginTarget): boolean {
  const base = origin.kind === 'zone' ? null : origin.base;
  return base !== null && ADDRESS.exec(base)?.[1] !== undefined;
}
