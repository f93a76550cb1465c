/**
 * Edge access rules on the wire (interface document 2.7 and 4.8, design 3.1). `{type, value, verdict}` is
 * the plain case; the other members are optional. Canonicalisation of `value` is not done here but
 * in `rules/canonical.ts`, which answers per item, so that one bad rule is named by its index.
 */
import * as z from 'zod/mini';
import { decisions, edgeRuleTypes } from './vocabulary.ts';

/** Rules in one create or delete call. Above it: 413 with this number. */
export const EDGE_RULES_PER_CALL_MAX = 10_000;
/** Errors listed in one rejection: enough to mend a file, bounded against a hostile one. */
export const EDGE_RULE_ERRORS_LISTED_MAX = 100;
export const EDGE_RULE_VALUE_MAX_CHARS = 512;

const value = z.union([z.string().check(z.minLength(1), z.maxLength(EDGE_RULE_VALUE_MAX_CHARS)), z.int()]);

export const edgeRuleInput = z.strictObject({
  type: z.enum(edgeRuleTypes),
  value,
  verdict: z.enum(decisions),
  /** `monitor`: recorded as fired, decides nothing. */
  mode: z.optional(z.enum(['enforce', 'monitor'])),
  /** ISO 8601 with offset. Past it the rule is transparent, even before anything republishes. */
  expiry: z.optional(z.nullable(z.iso.datetime({ offset: true }))),
  /** Percent of visitors, stable per visitor, to whom the rule applies. */
  rollout: z.optional(z.number().check(z.gte(0), z.lte(100))),
  note: z.optional(z.string().check(z.maxLength(1000))),
});
export type EdgeRuleInput = z.infer<typeof edgeRuleInput>;

export const edgeRuleCondition = z.strictObject({ type: z.enum(edgeRuleTypes), value });
export type EdgeRuleCondition = z.infer<typeof edgeRuleCondition>;
