/**
 * The form of a configuration file. The parts are the schemas with which the management API checks its requests, so that
 * a file can say what a request can. `docs/gatehouse.schema.json` is made from it. What refers to something else, such as
 * a policy to its limit, is checked when the plan is made.
 */
import * as z from 'zod/mini';
import { ownBot } from '../../bots/own-bot.ts';
import {
  accessConditionInput,
  accessRestriction,
  accessRuleInput,
} from '../../contract/management/access-control-rule.ts';
import { ALERT_CHANNELS_MAX, alertKinds, channelFields, channelShapes } from '../../contract/management/alerts.ts';
import { edgeRuleInput } from '../../contract/management/edge-rule.ts';
import { emailAddress } from '../../contract/management/email-address.ts';
import { instanceIdentity, instanceSettings } from '../../contract/management/instance-settings.ts';
import { listFields, listName } from '../../contract/management/lists.ts';
import { withoutDefaults } from '../../contract/management/patch-schema.ts';
import { givenLimit, LIMITS_MAX } from '../../contract/management/policy-set/limit.ts';
import { areFewOrigins, origin, tooManyOrigins } from '../../contract/management/policy-set/origin.ts';
import { conditionTree } from '../../contract/management/policy-set/policy-set.ts';
import { POLICIES_MAX, policy, policyName } from '../../contract/management/policy-set/policy.ts';
import { userRoles } from '../../contract/management/permissions.ts';
import { siteKey, siteName } from '../../contract/management/site.ts';
import { siteSettings } from '../../contract/management/site-settings.ts';
import { shownUrl } from '../../service/http/shown-url.ts';
import { SECRET_REFERENCE, refusedName, withoutReferences } from './secret-reference.ts';

const SITES_MAX = 5000;
const INSTANCES_MAX = 300;
/** As many as an instance holds. */
const RULES_MAX = 1_250_000;
const ACCESS_RULES_MAX = 50_000;
const LISTS_MAX = 1000;
const BOTS_MAX = 100;
const USERS_MAX = 1000;

const namesNoCredential = z.refine<string>((text) => refusedName(text) === null, {
  error: ({ input }) =>
    `must not refer to ${refusedName(String(input))}, which is a credential of the job. Use another variable`,
});
const secretReference = z
  .string()
  .check(
    z.regex(SECRET_REFERENCE, 'must be a reference such as ${ENV:NAME}: a file has no secrets'),
    namesNoCredential,
  );

const fileSite = z.strictObject({
  name: siteName,
  /** Finds the site that has this key, so that its name can change. */
  siteKey: z.optional(siteKey),
  isDefault: z.optional(z.literal(true)),
  settings: z.optional(z.strictObject(withoutDefaults(siteSettings.shape))),
});

const { type, value, verdict, mode, expiry, note } = edgeRuleInput.shape;
const fileRule = z.strictObject({
  type,
  value,
  verdict,
  mode,
  expiry,
  rollout: z.optional(z.number().check(z.gte(0), z.lte(100))),
  note,
});

const filePolicy = z.strictObject({
  name: policy.shape.name,
  description: policy.shape.description,
  when: z.union([z.string(), conditionTree]),
  then: policy.shape.then,
  mode: policy.shape.mode,
});

/** Whether the service shows the same address, whatever the variables are. */
function hidesReferences(text: string): boolean {
  return shownUrl(withoutReferences(text, 'x')) === shownUrl(withoutReferences(text, 'y'));
}

const { authorization: _secret, url: plainUrl, ...plainListFields } = listFields;
const listUrl = z.nullable(
  z.string().check(
    z.maxLength(2048),
    z.refine((text) => plainUrl.safeParse(withoutReferences(text)).success, 'must be a public https address'),
    z.refine(hidesReferences, 'may refer to variables only in values of its query: the service shows the rest'),
    namesNoCredential,
  ),
);
/** One variable with `Name: value`, or the name here and the value in a variable. */
const listAuthorization = z.nullable(
  z.union([
    secretReference,
    z.strictObject({
      header: z.string().check(z.regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header')),
      value: secretReference,
    }),
  ]),
);
const fileList = z.strictObject({
  name: listName,
  url: z.optional(listUrl),
  authorization: z.optional(listAuthorization),
  ...withoutDefaults(plainListFields),
});

const fileInstance = z.strictObject({
  cname: instanceIdentity.shape.cname,
  name: z.optional(instanceIdentity.shape.name),
  /** Name or key of its site. */
  site: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  settings: z.optional(z.strictObject(withoutDefaults(instanceSettings.shape))),
  rules: z.optional(z.array(fileRule).check(z.maxLength(RULES_MAX))),
  policies: z.optional(z.array(filePolicy).check(z.maxLength(POLICIES_MAX))),
  limits: z.optional(z.array(givenLimit).check(z.maxLength(LIMITS_MAX))),
  origins: z.optional(z.record(policyName, origin).check(z.refine(areFewOrigins, tooManyOrigins))),
  lists: z.optional(z.array(fileList).check(z.maxLength(LISTS_MAX))),
});

const ruleFields = accessRuleInput.shape;
const fileAccessRule = z.strictObject({
  type: ruleFields.type,
  description: ruleFields.description,
  conditions: z
    .array(
      z.strictObject({
        field: accessConditionInput.shape.field,
        operator: z._default(z.literal('equals'), 'equals'),
        value: accessConditionInput.shape.value,
      }),
    )
    .check(z.minLength(1), z.maxLength(32)),
  /** Required here: the default of the API is an hour from now, so each run would change the rule. */
  expiry: ruleFields.expiry.def.innerType,
  ruleGroupId: ruleFields.ruleGroupId,
  ...accessRestriction.shape,
});

const fileUser = z.strictObject({
  email: emailAddress,
  name: z.string().check(z.trim(), z.minLength(1), z.maxLength(256)),
  role: z.enum(userRoles),
});

const fileChannel = z.strictObject({
  name: channelFields.name,
  shape: z.enum(channelShapes),
  /** The whole address: with Slack and Discord it is the secret. */
  webhookUrl: secretReference,
  kinds: z.optional(z.array(z.enum(alertKinds)).check(z.maxLength(alertKinds.length))),
  quietHours: z.optional(channelFields.quietHours),
  enabled: z.optional(channelFields.enabled),
});

/** A section that is missing is left alone. */
export const configFile = z.strictObject({
  /** Of this format. */
  version: z.literal(1),
  sites: z.optional(z.array(fileSite).check(z.maxLength(SITES_MAX))),
  instances: z.optional(z.array(fileInstance).check(z.maxLength(INSTANCES_MAX))),
  accessControl: z.optional(z.array(fileAccessRule).check(z.maxLength(ACCESS_RULES_MAX))),
  bots: z.optional(z.array(ownBot).check(z.maxLength(BOTS_MAX))),
  users: z.optional(z.array(fileUser).check(z.maxLength(USERS_MAX))),
  alertChannels: z.optional(z.array(fileChannel).check(z.maxLength(ALERT_CHANNELS_MAX))),
});

export type ConfigFile = z.infer<typeof configFile>;
export type FileSite = z.infer<typeof fileSite>;
export type FileInstance = z.infer<typeof fileInstance>;
export type FileRule = z.infer<typeof fileRule>;
export type FilePolicy = z.infer<typeof filePolicy>;
export type FileList = z.infer<typeof fileList>;
export type FileAccessRule = z.infer<typeof fileAccessRule>;
export type FileUser = z.infer<typeof fileUser>;
export type FileChannel = z.infer<typeof fileChannel>;
