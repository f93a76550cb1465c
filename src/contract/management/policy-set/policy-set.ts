/**
 * An instance's policies, limits and origins: one document with one version, so that what a policy refers to is always
 * there. Addresses and spellings are made canonical in `src/policies/canonical.ts`. Below it is what the operations on policy
 * sets take and return.
 */
import * as z from 'zod/mini';
import { givenLimit, limit, LIMITS_MAX } from './limit.ts';
import { areFewOrigins, origin, tooManyOrigins } from './origin.ts';
import { POLICIES_MAX, policy, policyAction, policyMode, policyName } from './policy.ts';
import { policyFields, policyOperators } from '../../vocabulary.ts';

/** Of the document as compact JSON in UTF-8. */
export const POLICY_SET_MAX_BYTES = 512 * 1024;

/** By name. */
const originsByName = z.record(policyName, origin).check(z.refine(areFewOrigins, tooManyOrigins));

export const policySet = z
  .strictObject({
    policies: z._default(z.array(policy).check(z.maxLength(POLICIES_MAX)), []),
    limits: z._default(z.array(givenLimit).check(z.maxLength(LIMITS_MAX)), []),
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

/** Why a version was made. */
export const policyNote = z.optional(z.string().check(z.maxLength(500)));

const test = z.strictObject({
  field: z.enum(policyFields),
  name: z.optional(z.string()),
  operator: z.enum(policyOperators),
  value: z.optional(z.union([z.string(), z.number(), z.array(z.string()), z.array(z.number())])),
});
/** A condition as a tree. What stands inside is checked apart, so that any depth is refused without calling itself. */
export const conditionTree = z.union([
  z.strictObject({ and: z.array(z.unknown()) }),
  z.strictObject({ or: z.array(z.unknown()) }),
  z.strictObject({ not: z.unknown() }),
  test,
]);
/** As its text form, or as the tree. */
const condition = z.union([z.string(), conditionTree]);

/** For the API's description: conditions are read one by one, so that an error has a position. */
const policyInput = z.strictObject({
  name: policyName,
  description: policy.shape.description,
  when: condition,
  then: policyAction,
  mode: z._default(policyMode, 'enforce'),
});
export const policyItem = z.union([z.unknown(), policyInput]);
export const conditionItem = z.union([z.unknown(), condition]);
/** Absent: as they are. */
export const policiesField = z.optional(z.array(policyItem).check(z.maxLength(POLICIES_MAX)));
export const limitsField = z.optional(z.array(z.union([z.unknown(), limit])).check(z.maxLength(LIMITS_MAX)));
/** By name. Checked with what refers to it. */
export const originsField = z.optional(
  z.record(z.string(), z.union([z.unknown(), origin])).check(z.refine(areFewOrigins, tooManyOrigins)),
);
export const originsStored = z.record(z.string(), origin);

/** As responses have it, so that a client can send back what it read. */
export const policyStored = z.object({ ...policy.shape, when: conditionTree });
/** With its condition in both forms. */
export const policyListed = z.object({ ...policyStored.shape, text: z.string() });

/** Products whose rules can be imported. */
export const importFormats = ['cloudflare', 'anubis'] as const;
/** Where imported policies go: behind the present ones, before them, or in their place. */
export const importPlaces = ['end', 'start', 'replace'] as const;
