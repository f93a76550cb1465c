/**
 * Edge access rules on the wire. `{type, value, verdict}` is enough; the other fields are optional. `value` is made
 * canonical in `rules/canonical.ts` and not here, because that reports per item, so that one bad rule is named by its
 * index.
 */
import * as z from 'zod/mini';
import { decisions, edgeRuleTypes } from '../vocabulary.ts';
import { instant } from './time.ts';

/** Errors listed in one refusal: enough to correct a file, bounded against a hostile one. */
export const EDGE_RULE_ERRORS_LISTED_MAX = 100;
export const EDGE_RULE_VALUE_MAX_CHARS = 512;

const value = z.union([z.string().check(z.minLength(1), z.maxLength(EDGE_RULE_VALUE_MAX_CHARS)), z.int()]);

/** Also accepted as text, as forms and CSV carry it. */
const rolloutPercent = z.pipe(
  z.pipe(
    z.union([z.number(), z.string().check(z.regex(/^\d{1,3}(\.\d{1,6})?$/))]),
    z.transform((percent) => Number(percent)),
  ),
  z.number().check(z.gte(0), z.lte(100)),
);

export const edgeRuleInput = z.strictObject({
  type: z.enum(edgeRuleTypes),
  value,
  verdict: z.enum(decisions),
  /** `monitor`: the rule is recorded as fired and decides nothing. */
  mode: z.optional(z.enum(['enforce', 'monitor'])),
  /**
   * In the future unless the rule was listed. From then on the rule matches nothing, even before the ruleset is published
   * again.
   */
  expiry: z.optional(z.nullable(instant)),
  /** Percent of visitors to whom the rule applies, stable per visitor. */
  rollout: z.optional(rolloutPercent),
  note: z.optional(z.nullable(z.string().check(z.maxLength(1000)))),
  /** Read-only fields of a listed rule, accepted so that it can be sent back unchanged, also after its expiry. */
  expired: z.optional(z.unknown()),
  signalUnseen: z.optional(z.unknown()),
  createdAt: z.optional(z.unknown()),
  createdBy: z.optional(z.unknown()),
  updatedAt: z.optional(z.unknown()),
  updatedBy: z.optional(z.unknown()),
  updatedByName: z.optional(z.unknown()),
  hits: z.optional(z.unknown()),
});
export type EdgeRuleInput = z.infer<typeof edgeRuleInput>;

export const edgeRuleCondition = z.strictObject({ type: z.enum(edgeRuleTypes), value });

/** A rule in canonical form, with every field present. */
export const edgeRuleCanonical = z.strictObject({
  type: z.enum(edgeRuleTypes),
  value: z.string(),
  verdict: z.enum(decisions),
  mode: z.enum(['enforce', 'monitor']),
  expiry: z.nullable(z.iso.datetime({ offset: true })),
  rollout: z.number(),
  note: z.nullable(z.string()),
});
export type EdgeRuleCanonical = z.infer<typeof edgeRuleCanonical>;

/** Requests in which a rule fired, by their decision. */
export const ruleHits = z.object({
  total: z.int(),
  allow: z.int(),
  challenge: z.int(),
  block: z.int(),
  /** Start of the minute of the newest one. */
  lastHitAt: z.nullable(z.iso.datetime()),
});

/** A stored rule as the list shows it. Times are ISO 8601; `createdBy` and `updatedBy` are API key ids. */
export const edgeRuleListed = z.extend(edgeRuleCanonical, {
  /** The expiry has passed. The rule decides nothing, and stays listed until it is deleted or renewed. */
  expired: z.boolean(),
  /** This instance's edge has not sent this kind of signal (a JA4, for example) for a week: the rule cannot match. */
  signalUnseen: z.optional(z.literal(true)),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  updatedAt: z.iso.datetime(),
  updatedBy: z.string(),
  /** Of a page of rules: what the key or the person is called, or was when they still were there. */
  updatedByName: z.optional(z.string()),
  /** With `hitsSince`: logged requests in which the rule fired, monitored or not, by their decision. */
  hits: z.optional(ruleHits),
});
export type EdgeRuleListed = z.infer<typeof edgeRuleListed>;
