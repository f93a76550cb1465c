/** One policy: a condition, and what happens to a request that fulfils it. */
import * as z from 'zod/mini';
import { expression } from './expression.ts';
import { GATE_POLICIES } from './policy-fields.ts';

export const POLICIES_MAX = 1000;

/** Of a policy, a limit or an origin. */
export const policyName = z
  .string()
  .check(
    z.regex(/^[a-z0-9][a-z0-9-]{0,47}$/, 'must have 1 to 48 lower-case letters, digits and hyphens, no hyphen first'),
  );
/** `monitor`: recorded, and nothing else happens. */
export const policyMode = z.enum(['enforce', 'monitor']);

/**
 * A path of the same site, or an address over https. In visible ASCII, as a header carries it; anything else must be
 * escaped, and `^` too, which not every reader of addresses leaves as it is. `//host` would be another site.
 */
export const redirectLocation = z.string().check(
  z.maxLength(2048),
  z.regex(/^(?:https:\/\/[^/?#\\]|\/(?![/\\]))[!#-;=?-\]_-~]*$/, 'must be a path of the same site or an https address'),
  z.refine((location) => URL.canParse(location, 'https://host'), 'must be an address'),
);
const redirectStatus = z.union([z.literal(302), z.literal(303), z.literal(307), z.literal(308)]);

/**
 * `allow`, `challenge`, `block` and `redirect` end the search for a policy. `skipSession`, `limit` and `origin` add
 * up, and the search goes on. Of several origins the first counts.
 */
export const policyAction = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('allow') }),
  z.strictObject({
    action: z.literal('challenge'),
    /** Lowest level of a solved challenge that counts: 0 any lane, 1 a proof of work, 2 four times the work, with an image or a puzzle. */
    level: z.optional(z.union([z.literal(0), z.literal(1), z.literal(2)])),
  }),
  z.strictObject({ action: z.literal('block') }),
  z.strictObject({
    action: z.literal('redirect'),
    location: redirectLocation,
    status: z._default(redirectStatus, 302),
  }),
  z.strictObject({ action: z.literal('skipSession') }),
  z.strictObject({ action: z.literal('limit'), limit: policyName }),
  z.strictObject({ action: z.literal('origin'), origin: policyName }),
]);
export type PolicyAction = z.infer<typeof policyAction>;

export const policy = z.strictObject({
  name: policyName.check(z.refine((name) => !GATE_POLICIES.includes(name), 'is the name of a policy of the gate')),
  description: z.optional(z.string().check(z.maxLength(500))),
  when: expression,
  then: policyAction,
  mode: z._default(policyMode, 'enforce'),
});
export type Policy = z.infer<typeof policy>;
