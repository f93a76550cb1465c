/**
 * An instance's policies, limits and origins: one document with one version, so that what a policy refers to is always
 * there. Addresses and spellings are made canonical in `src/policies/canonical.ts`.
 */
import * as z from 'zod/mini';
import { LIMITS_MAX, limit } from './limit.ts';
import { areFewOrigins, origin, tooManyOrigins } from './origin.ts';
import { POLICIES_MAX, policy, policyName } from './policy.ts';

/** Of the document as compact JSON in UTF-8. */
export const POLICY_SET_MAX_BYTES = 512 * 1024;

/** By name. */
const originsByName = z.record(policyName, origin).check(z.refine(areFewOrigins, tooManyOrigins));

export const policySet = z
  .strictObject({
    policies: z._default(z.array(policy).check(z.maxLength(POLICIES_MAX)), []),
    limits: z._default(z.array(limit).check(z.maxLength(LIMITS_MAX)), []),
    origins: z._default(originsByName, {}),
  })
  .check((context) => {
    const { policies, limits, origins } = context.value;
    const refuse = (message: string, ...path: (string | number)[]): void => {
      context.issues.push({ code: 'custom', input: context.value, path, message });
    };
    for (const index of repeated(policies)) refuse('must be unique among the policies', 'policies', index, 'name');
    for (const index of repeated(limits)) refuse('must be unique among the limits', 'limits', index, 'name');
    const limitNames = new Set(limits.map(({ name }) => name));
    for (const [index, { then }] of policies.entries()) {
      if (then.action === 'limit' && !limitNames.has(then.limit)) {
        refuse(`must name a limit; there is none named "${then.limit}"`, 'policies', index, 'then', 'limit');
      }
      if (then.action === 'origin' && !Object.hasOwn(origins, then.origin)) {
        refuse(`must name an origin; there is none named "${then.origin}"`, 'policies', index, 'then', 'origin');
      }
    }
    const hosts = new Set<string>();
    for (const [name, one] of Object.entries(origins)) {
      for (const [index, host] of one.hosts.entries()) {
        const key = host.toLowerCase();
        if (hosts.has(key)) refuse('must be unique among the hosts of all origins', 'origins', name, 'hosts', index);
        hosts.add(key);
      }
    }
    const bytes = new TextEncoder().encode(JSON.stringify(context.value)).length;
    if (bytes > POLICY_SET_MAX_BYTES) refuse(`must have at most ${POLICY_SET_MAX_BYTES} bytes; it has ${bytes}`);
  });
export type PolicySet = z.infer<typeof policySet>;

/** Places of the items whose name an earlier one has. */
function repeated(items: readonly { name: string }[]): number[] {
  const seen = new Set<string>();
  return items.flatMap(({ name }, index) => {
    if (seen.has(name)) return [index];
    seen.add(name);
    return [];
  });
}
