/** What the operations on policy sets take and return. */
import * as z from 'zod/mini';
import { policyFields, policyOperators } from '../../vocabulary.ts';
import { POLICIES_MAX, policy, policyAction, policyMode, policyName } from './policy.ts';
import { LIMITS_MAX, limit } from './limit.ts';
import { areFewOrigins, origin, tooManyOrigins } from './origin.ts';

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
