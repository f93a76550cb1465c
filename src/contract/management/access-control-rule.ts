/**
 * An access control rule of an account: which visitors it matches, and what they meet. All conditions must match.
 * `userAgent` is compared whole here, unlike in edge access rules. See docs/access-rules.md.
 */
import * as z from 'zod/mini';
import { instant } from './time.ts';
import { captchaTypes } from '../vocabulary.ts';

export const accessConditionFields = ['ip', 'ipMask', 'userId', 'ja4Hash', 'userAgent', 'countryCode', 'asn'] as const;
export type AccessConditionField = (typeof accessConditionFields)[number];

/** Conditions sent in one rule, including those with an operator that is dropped. */
const CONDITIONS_MAX = 32;
/** A whole user agent header, which is the longest value. */
const VALUE_MAX_CHARS = 16_384;
export const RULE_GROUP_ID_MAX_CHARS = 256;

/** Any operator is accepted. A condition whose operator is not `equals` is dropped without an error. */
export const accessConditionInput = z.strictObject({
  field: z.enum(accessConditionFields),
  operator: z.string().check(z.maxLength(64)),
  value: z.union([z.string().check(z.minLength(1), z.maxLength(VALUE_MAX_CHARS)), z.int()]),
});

const restrictionFields = {
  captchaType: z.optional(z.enum(captchaTypes)),
  solvedImagesCount: z.optional(z.int().check(z.gte(1), z.lte(32))),
  unsolvedImagesCount: z.optional(z.int().check(z.gte(0), z.lte(32))),
  /** Share of pictures that must be judged right. */
  imageThreshold: z.optional(z.number().check(z.gte(0), z.lte(1))),
  powDifficulty: z.optional(z.number().check(z.gte(1), z.lte(10))),
  /** Added to the session's score. */
  frictionlessScore: z.optional(z.number().check(z.gte(-1), z.lte(1))),
  /** Change nothing when the challenge is issued; refuse the token at verification. */
  deferToVerify: z.optional(z.boolean()),
};
export const accessRestriction = z.strictObject(restrictionFields);
export type AccessRestriction = z.infer<typeof accessRestriction>;
export const restrictionNames = Object.keys(restrictionFields) as (keyof AccessRestriction)[];

export const ruleGroupId = z.string().check(z.minLength(1), z.maxLength(RULE_GROUP_ID_MAX_CHARS));
export const userScopeHash = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'is not a userScopeHash'));

export const accessRuleInput = z.strictObject({
  type: z.enum(['block', 'restrict']),
  description: z.optional(z.string().check(z.maxLength(1024))),
  conditions: z.array(accessConditionInput).check(z.minLength(1), z.maxLength(CONDITIONS_MAX)),
  /** One hour from now when omitted. */
  expiry: z.optional(instant),
  ruleGroupId: z.optional(ruleGroupId),
  ...restrictionFields,
  /** Fields of a listed rule, accepted so that it can be sent back unchanged. They have no effect. */
  userScopeHash: z.optional(z.string().check(z.maxLength(64))),
  createdAt: z.optional(z.string().check(z.maxLength(64))),
  updatedAt: z.optional(z.string().check(z.maxLength(64))),
  expired: z.optional(z.boolean()),
});
export type AccessRuleInput = z.infer<typeof accessRuleInput>;

export const listedAccessRule = z.strictObject({
  type: z.enum(['block', 'restrict']),
  description: z.optional(z.string()),
  conditions: z.array(
    z.strictObject({ field: z.enum(accessConditionFields), operator: z.literal('equals'), value: z.string() }),
  ),
  expiry: z.string(),
  ruleGroupId: z.optional(z.string()),
  ...restrictionFields,
  userScopeHash: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  expired: z.boolean(),
});
export type ListedAccessControlRule = z.infer<typeof listedAccessRule>;
