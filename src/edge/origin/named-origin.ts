/**
 * What a named origin is for this edge. The instance's settings name it, and the edge's environment says what may be
 * called: a binding has to be there, and an address must be a name that is not of the own machine.
 */
import type { OriginForm } from '../../contract/management/policy-set/policy-set-form.ts';
import type { EdgeEnvironment, OriginTarget } from '../environment.ts';

export type OriginSurroundings = Pick<EdgeEnvironment, 'origin' | 'originBinding' | 'isZoneOpen'>;

/**
 * A loopback address, or a name whose last label begins with a letter, which no spelling of an IPv4 address does. Which
 * names belong to private networks is checked where the service stores them
 * (`contract/management/policy-set/origin-address.ts`).
 */
const ADDRESS =
  /^https?:\/\/(?:(localhost|127\.0\.0\.1|\[::1])|(?:[\w-]+\.)+[a-z][\w-]*\.?)(?::\d+)?(?:\/[^?#\\\s]*)?$/;

/** A text: why this edge cannot call it. */
export function namedOrigin(
  { kind, url = '', binding = '' }: OriginForm,
  { origin, originBinding, isZoneOpen }: OriginSurroundings,
): OriginTarget | string {
  if (kind === 'zone') return isZoneOpen ? { kind } : 'no zone that it can call';
  if (kind === 'binding') {
    const bound = originBinding(binding);
    return bound && 'fetch' in bound
      ? { kind, fetcher: bound as Fetcher, base: null }
      : `no service binding ${binding}`;
  }
  if (kind !== 'url') return 'unknown kind';
  const found = ADDRESS.exec(url);
  const isCallable = found && (found[1] === undefined || isLoopback(origin));
  return isCallable ? { kind, base: url, resolveOverride: null } : 'not a public address';
}

/** An edge for trials on one machine has its own origin there. */
function isLoopback(origin: OriginTarget): boolean {
  const base = origin.kind === 'zone' ? null : origin.base;
  return base !== null && ADDRESS.exec(base)?.[1] !== undefined;
}
