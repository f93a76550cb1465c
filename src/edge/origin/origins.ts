/**
 * Which origin gets a request: the one that a policy names, else the one that has the request's host, else that of the
 * edge's environment. A named origin that this edge cannot call is a failure: its requests go nowhere else.
 */
import type { OriginForm } from '../../contract/management/policy-set/policy-set-form.ts';
import type { RequestContext } from '../decide/context.ts';
import type { OriginTarget } from '../environment.ts';
import type { Count } from '../feed/upstream.ts';
import { hostName } from '../../address/host-name.ts';
import { namedOrigin } from './named-origin.ts';
import type { OriginSurroundings } from './named-origin.ts';

export interface OriginState {
  /** Empty for the environment's own. */
  readonly name: string;
  /** A text: why it cannot be called. */
  readonly target: OriginTarget | string;
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
    this.#own = { name: '', target: surroundings.origin, failures: 0 };
    this.#surroundings = surroundings;
    this.#count = count;
  }

  of({ config, facts, origin }: Pick<RequestContext, 'config' | 'facts' | 'origin'>): OriginState {
    this.#load(config);
    if (origin !== null) return this.#byName.get(origin) ?? { name: origin, target: 'it is not known', failures: 0 };
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
