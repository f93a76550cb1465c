/**
 * VerdictRecord, version 1: the one row that a request leaves in the verdict log. The names are in snake case because
 * the read endpoints return the row unchanged. Times are epoch milliseconds, `origin_ms` is a duration. The id is a
 * UUIDv7 made before the first send. Every retry carries it, so that the store can drop duplicates.
 */
import * as z from 'zod/mini';
import {
  RECORD_FIRED_RULES_MAX,
  RECORD_NAME_MAX_CHARS,
  RECORD_TEXT_MAX_CHARS,
  VERDICT_RECORD_VERSION,
} from './record-bounds.ts';
import {
  botBehaviours,
  botProofs,
  decisions,
  deviceTypes,
  edgeRuleTypes,
  ipCategories,
  pathTypes,
  sessionStatuses,
  verdictSources,
} from '../vocabulary.ts';

const text = z.string().check(z.maxLength(RECORD_TEXT_MAX_CHARS));
const name = z.string().check(z.maxLength(RECORD_NAME_MAX_CHARS));
const id = z.string().check(z.minLength(1), z.maxLength(128));
const verdict = z.enum(decisions);

/** A rule that matched. `id` is `type:canonicalValue`, or `list:name` for an entry of a list. In mode `monitor` the rule decided nothing. */
export const firedRule = z.strictObject({
  id: name,
  verdict,
  mode: z.enum(['enforce', 'monitor']),
});
/** The bot that a request says it is, or proved to be. */
export const recordedBot = z.strictObject({
  id,
  behaviours: z.array(z.enum(botBehaviours)).check(z.maxLength(botBehaviours.length)),
  proof: z.enum(botProofs),
});
/**
 * What the decision table decided from. An input that said nothing is left out. Who the bot is, and the risk score, are
 * fields of the record.
 */
export const recordInputs = z.strictObject({
  /** The type says what an `allow` lifts. Of an entry of a list, nothing else in the record says it. */
  network: z.optional(z.strictObject({ verdict, id: name, type: z.enum(edgeRuleTypes) })),
  client: z.optional(z.strictObject({ verdict, id: name })),
  bot: z.optional(z.strictObject({ verdict })),
  category: z.optional(z.strictObject({ verdict, category: z.enum(ipCategories) })),
  risk: z.optional(z.strictObject({ verdict })),
  limit: z.optional(z.strictObject({ verdict, name })),
  policy: z.optional(z.strictObject({ verdict, reason: name })),
});
export type RecordInputs = z.infer<typeof recordInputs>;
export const verdictRecord = z.strictObject({
  v: z.literal(VERDICT_RECORD_VERSION),
  id: z.uuid(),
  request_id: id,
  timestamp: z.int().check(z.nonnegative()),
  instance_id: id,
  site_key: id,
  jti: z.nullable(z.string().check(z.maxLength(256))),
  ip: z.nullable(z.string().check(z.maxLength(45))),
  ip_category: z.array(z.enum(ipCategories)).check(z.maxLength(ipCategories.length)),
  country: z.nullable(z.string().check(z.maxLength(2))),
  asn: z.nullable(z.int().check(z.nonnegative(), z.maximum(4_294_967_295))),
  ja4: z.nullable(z.string().check(z.maxLength(64))),
  user_agent: text,
  /** `null`: no known bot. Records of older edges do not have it. */
  bot: z.optional(z.nullable(recordedBot)),
  device_type: z.enum(deviceTypes),
  method: z.string().check(z.maxLength(32)),
  host: z.string().check(z.maxLength(255)),
  request_path: text,
  path_type: z.enum(pathTypes),
  /** What the decision table said. Under `monitor` the request was forwarded all the same. */
  decision: verdict,
  source: z.enum(verdictSources),
  /** Fired rule id, `category:tor`, `risk:block`, `policy:onPending`, `path:<pattern>`, `bot:<id>` or `default`. */
  decided_by: name,
  fired_rules: z.array(firedRule).check(z.maxLength(RECORD_FIRED_RULES_MAX)),
  /** Missing where no table was applied, and in records of older edges. */
  inputs: z.optional(recordInputs),
  /** Why, where `inputs` do not say it. Else the reader writes the sentence. Records of older edges have theirs. */
  explain: z.optional(text),
  enforcement_policy: z.enum(['enforce', 'monitor', 'rollout-excluded']),
  session_status: z.enum(sessionStatuses),
  /** `null`: the request had no token; else whether its token was verified. */
  verified: z.nullable(z.boolean()),
  /** Level of the clearance that lifted a challenge or stood for a session, or `null`. */
  level: z.nullable(z.int()),
  risk_score: z.nullable(z.number().check(z.gte(0), z.lte(1))),
  /** Status sent to the visitor; 0 when the visitor left before a response. */
  status: z.int(),
  origin_ms: z.nullable(z.number()),
  ruleset_version: z.int(),
  edge: z.strictObject({
    colo: z.string().check(z.maxLength(16)),
    version: z.string().check(z.maxLength(64)),
    isolate: id,
    seq: z.int().check(z.nonnegative()),
  }),
});
export type VerdictRecord = z.infer<typeof verdictRecord>;

/** A verdict record as the management API returns it: always with the sentence that says why. */
export const returnedVerdict = z.extend(verdictRecord, {
  explain: z.string().check(z.maxLength(RECORD_TEXT_MAX_CHARS)),
  /** The reason of the headline, for a line beside the decision. */
  reason: z.optional(z.string()),
});
export type ReturnedVerdict = z.infer<typeof returnedVerdict>;
