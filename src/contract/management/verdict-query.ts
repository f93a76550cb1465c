/**
 * Queries of the verdict log and their responses. A form body carries text and single values where JSON carries numbers
 * and arrays; both are accepted. See docs/verdict-log.md.
 */
import * as z from 'zod/mini';
import { returnedVerdict } from '../edge/verdict-record.ts';
import { riskCauses, riskDetectors } from '../edge/risk-detectors.ts';
import { telemetryTraits } from '../edge/page-report-names.ts';
import { botProofs, decisions, deviceTypes, verdictSources } from '../vocabulary.ts';
import { instant } from './time.ts';

export const VERDICT_PAGE_DEFAULT_ROWS = 50;
export const VERDICT_PAGE_MAX_ROWS = 1000;
/** Deeper pages need `cursor`, whose cost does not grow with the depth. */
export const VERDICT_OFFSET_MAX = 100_000;
/** A week by the minute is 10,080. */
export const SERIES_POINTS_MAX = 11_000;
/** Points of all series in one response, some 20 MB: 100 values for a month by the hour, or a day by the minute. */
export const DIMENSION_POINTS_MAX = 250_000;
export const TOP_N_DEFAULT = 10;
export const TOP_N_MAX = 100;
const FILTER_VALUES_MAX = 100;

/** The allowed values of `groupBy`. */
export const verdictDimensions = [
  'decision',
  'source',
  'country',
  'asn',
  'ip_category',
  'ja4',
  'user_agent',
  'request_path',
  'fired_rule',
  'device_type',
  'enforcement_policy',
  'bot',
  'bot_proof',
  'none',
] as const;
export type VerdictDimension = (typeof verdictDimensions)[number];

const digits = z.string().check(z.regex(/^\d{1,15}$/));
export const wholeNumber = (min: number, max: number) =>
  z.pipe(z.pipe(z.union([z.int(), digits]), z.transform(Number)), z.int().check(z.gte(min), z.lte(max)));
/** A value, or a list of them; to a list. */
export const oneOrMany = <T extends z.ZodMiniType>(item: T) =>
  z.pipe(
    z.union([item, z.array(item).check(z.minLength(1), z.maxLength(FILTER_VALUES_MAX))]),
    z.transform((value): z.output<T>[] => (Array.isArray(value) ? value : [value as z.output<T>])),
  );

/** `minute`, `hour`, `day`, or a whole number of minutes in seconds; to seconds. */
export const bucketSeconds = z.pipe(
  z.pipe(
    z.union([z.enum(['minute', 'hour', 'day']), z.int(), digits]),
    z.transform((value): number => {
      if (value === 'minute') return 60;
      if (value === 'hour') return 3600;
      return value === 'day' ? 86_400 : Number(value);
    }),
  ),
  z.int().check(z.gte(60), z.lte(31 * 86_400), z.multipleOf(60)),
);

const asn = z.pipe(
  z.pipe(
    z.union([z.int(), z.string().check(z.regex(/^(AS)?\d{1,10}$/i))]),
    z.transform((value): number => (typeof value === 'number' ? value : Number(value.replace(/^AS/i, '')))),
  ),
  z.int().check(z.gte(0), z.lte(4_294_967_295)),
);

export const siteKeyField = z.optional(z.string().check(z.minLength(1), z.maxLength(256)));
export const jtiField = z.string().check(z.minLength(1), z.maxLength(256));

const paging = {
  limit: z._default(wholeNumber(1, VERDICT_PAGE_MAX_ROWS), VERDICT_PAGE_DEFAULT_ROWS),
  offset: z._default(wholeNumber(0, VERDICT_OFFSET_MAX), 0),
  /** `nextCursor` of the previous page; `offset` counts from there. */
  cursor: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,128}$/))),
};

/** As on the pages of the gate; a copied one may have blanks around it and capitals. */
export const requestReference = z.pipe(
  z.pipe(
    z.string().check(z.maxLength(100)),
    z.transform((text) => text.trim().toLowerCase()),
  ),
  z
    .string()
    .check(
      z.regex(
        /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
        'must be the reference of a request, 36 characters like 01a20432-74c6-7eac-be38-d521a187cda6',
      ),
    ),
);

/**
 * `false`: visitors only, without the gate's own calls (`/__protect/*`, source `internal`).
 */
export const includeInternal = z._default(
  z.pipe(
    z.union([z.boolean(), z.enum(['true', 'false'])]),
    z.transform((value) => value === true || value === 'true'),
  ),
  true,
);

const client = {
  ip: z.optional(z.string().check(z.minLength(1), z.maxLength(45))),
  jti: z.optional(jtiField),
};

const filters = {
  siteKey: siteKeyField,
  /** Inclusive. */
  since: z.optional(instant),
  /** Exclusive. */
  until: z.optional(instant),
  decision: z.optional(oneOrMany(z.enum(decisions))),
  sources: z.optional(oneOrMany(z.enum(verdictSources))),
  includeInternal,
  /** Verdicts in which at least one of these rules fired, including monitored rules. */
  firedRules: z.optional(oneOrMany(z.string().check(z.minLength(1), z.maxLength(320)))),
  asn: z.optional(oneOrMany(asn)),
  deviceType: z.optional(oneOrMany(z.enum(deviceTypes))),
  /** Ids of bots, as in `bot.id` of a verdict. */
  bot: z.optional(oneOrMany(z.string().check(z.minLength(1), z.maxLength(128)))),
  /** How the bot's name was proved. */
  proof: z.optional(oneOrMany(z.enum(botProofs))),
  /** An exact path, or with a trailing `*` every path that starts so. */
  requestPath: z.optional(z.string().check(z.minLength(1), z.maxLength(1024))),
  minRulesFired: z.optional(wholeNumber(0, 64)),
  /** `X-Protect-Request-Id`: the reference that the gate's pages show. */
  requestId: z.optional(requestReference),
};

export const verdictPageRequest = z.strictObject({ ...filters, ...client, ...paging });
export type VerdictPageRequest = z.infer<typeof verdictPageRequest>;

export const verdictSearchRequest = z.strictObject({
  siteKey: siteKeyField,
  ...client,
  requestId: filters.requestId,
  bot: filters.bot,
  proof: filters.proof,
  asn: z.optional(oneOrMany(asn)),
  includeInternal,
  since: filters.since,
  until: filters.until,
  ...paging,
});

/** Verdicts that one call of the live tail returns. */
const TAIL_MAX_ROWS = 1000;
const TAIL_DEFAULT_ROWS = 200;
/** A place in each of 1,000 shards. */
const TAIL_CURSOR_MAX_CHARS = 32_768;

const { since: _since, until: _until, requestId: _requestId, ...tailFilters } = filters;
export const verdictTailRequest = z.strictObject({
  ...tailFilters,
  ...client,
  limit: z._default(wholeNumber(1, TAIL_MAX_ROWS), TAIL_DEFAULT_ROWS),
  /** `cursor` of the last response. Without it, the newest verdicts are returned. */
  cursor: z.optional(z.string().check(z.minLength(1), z.maxLength(TAIL_CURSOR_MAX_CHARS))),
});

export const verdictExportRequest = z.strictObject({
  ...filters,
  format: z._default(z.enum(['ndjson', 'parquet']), 'ndjson'),
});

export const distinctRequest = z.strictObject({
  since: instant,
  until: z.optional(instant),
  siteKey: siteKeyField,
  includeInternal,
});

export const sessionRequest = z.strictObject({ jti: jtiField, siteKey: siteKeyField });

export const trafficSummaryRequest = z.strictObject({
  siteKey: siteKeyField,
  /** Default: 24 hours ago. Rounded down to the start of its bucket. */
  since: z.optional(instant),
  /** Default: now. Rounded up to the end of its bucket. */
  until: z.optional(instant),
  bucket: z._default(bucketSeconds, 3600),
  source: z.optional(oneOrMany(z.enum(verdictSources))),
  /** Not together with `source`. */
  bot: filters.bot,
  includeInternal,
});

export type TrafficSummaryRequest = z.infer<typeof trafficSummaryRequest>;

export const originLatencyRequest = z.strictObject({
  siteKey: siteKeyField,
  since: z.optional(instant),
  until: z.optional(instant),
  bucket: z._default(bucketSeconds, 3600),
});

export const trafficByDimensionRequest = z.strictObject({
  groupBy: z.enum(verdictDimensions),
  siteKey: siteKeyField,
  since: z.optional(instant),
  until: z.optional(instant),
  bucket: z._default(bucketSeconds, 3600),
  topN: z._default(wholeNumber(1, TOP_N_MAX), TOP_N_DEFAULT),
  /** Count only verdicts with these decisions. */
  decision: z.optional(oneOrMany(z.enum(decisions))),
  includeInternal,
});

export const verdictPageResponse = z.object({
  /** Newest first; verdicts of the same time by descending id. */
  verdicts: z.array(returnedVerdict),
  /** All verdicts that match, on any page. */
  total: z.int(),
  /** `false`: counting was stopped early, and the real total is at least `total`. */
  totalIsExact: z.boolean(),
  limit: z.int(),
  offset: z.int(),
  /** For the next call's `cursor`; `null` on the last page. */
  nextCursor: z.nullable(z.string()),
});

export const verdictTailResponse = z.object({
  /** In the order in which the log stored them, which is that of their arrival. */
  verdicts: z.array(returnedVerdict),
  /** For the next call. */
  cursor: z.string(),
  /** More verdicts have arrived already: call again at once. */
  more: z.boolean(),
  /**
   * Verdicts since the last call that this one cannot return, whether they match the filter or not: they moved to the
   * log's archive or were erased. `/protect/verdicts` has those that were not erased.
   */
  missed: z.int(),
});

const counted = { total: z.int(), allow: z.int(), challenge: z.int(), block: z.int() };
/** Verdicts of one bucket, by decision. `timestamp`: epoch milliseconds of its start. */
const seriesPoint = z.object({ timestamp: z.int(), ...counted });

export const distinctSourcesResponse = z.object({
  sources: z.array(z.object({ source: z.string(), ...counted })),
  since: z.int(),
  until: z.int(),
});

export const distinctFiredRulesResponse = z.object({
  firedRules: z.array(z.object({ id: z.string(), ...counted })),
  /** `false`: more distinct rules fired in an hour than the log counts separately. */
  isComplete: z.boolean(),
  since: z.int(),
  until: z.int(),
});

export const trafficSummaryResponse = z.object({
  /** The window that was counted, in whole buckets. Epoch milliseconds, `until` exclusive. */
  since: z.int(),
  until: z.int(),
  bucketSeconds: z.int(),
  ...counted,
  /** Buckets with traffic, oldest first. */
  buckets: z.array(seriesPoint),
});

/** Milliseconds: exact up to 32, above that at most a sixteenth too high. `null`: no request was forwarded. */
const percentile = z.nullable(z.int());
/** `requests`: those that the origin responded to. The percentiles are computed from all of them. */
const latency = { requests: z.int(), p50: percentile, p95: percentile, p99: percentile };

export const originLatencyResponse = z.object({
  /** The window that was counted, in whole buckets. Epoch milliseconds, `until` exclusive. */
  since: z.int(),
  until: z.int(),
  bucketSeconds: z.int(),
  ...latency,
  /** Buckets with responses, oldest first. */
  buckets: z.array(z.object({ timestamp: z.int(), ...latency })),
});

export const accessRuleHitsResponse = z.object({
  /** As in `fired_rules` of a verdict. */
  rule: z.string(),
  /** The window that was counted, in whole buckets. Epoch milliseconds, `until` exclusive. */
  since: z.int(),
  until: z.int(),
  bucketSeconds: z.int(),
  ...counted,
  /** Start of the minute of the newest hit. */
  lastHitAt: z.nullable(z.iso.datetime()),
  /** Buckets with hits, oldest first. */
  buckets: z.array(seriesPoint),
  /** `false`: more distinct rules fired in an hour than the log counts separately. */
  isExact: z.boolean(),
});

export const trafficByDimensionResponse = z.object({
  groupBy: z.enum(verdictDimensions),
  since: z.int(),
  until: z.int(),
  bucketSeconds: z.int(),
  ...counted,
  /**
   * The `topN` values by total over the window, largest first. `value: null`: verdicts without a value. A verdict with
   * several values (`fired_rule`, `ip_category`) counts once under each.
   */
  series: z.array(
    z.object({ value: z.nullable(z.string()), name: z.optional(z.string()), ...counted, points: z.array(seriesPoint) }),
  ),
  /** All other values together; exact. */
  other: z.object({ values: z.int(), ...counted, points: z.array(seriesPoint) }),
  /** `false`: an hour had more distinct values than the log counts separately; the surplus is in `other`. */
  isExact: z.boolean(),
  /**
   * With `includeInternal: false`: how many of the gate's own calls are still in `series` and `other`, because they were
   * recorded before the log counted them apart. The totals never have them.
   */
  internalLeft: z.int(),
});

/** A detector that fired. The weights add up to the score, which is capped at 1. */
const riskPart = z.object({ detector: z.enum(riskDetectors), weight: z.number(), says: z.optional(z.string()) });

export const riskHistoryResponse = z.object({
  jti: z.string(),
  /** The session's first score and every change, the newest 50, oldest first. Empty for an unknown or erased session. */
  scores: z.array(
    z.object({
      timestamp: z.int(),
      risk_score: z.number(),
      cause: z.enum(riskCauses),
      parts: z.array(riskPart),
      /** Fired and counted nothing, because the instance ignores them. */
      ignored: z.array(z.enum(riskDetectors)),
    }),
  ),
  /** The newest 1,000, oldest first. */
  history: z.array(
    z.object({
      timestamp: z.int(),
      id: z.string(),
      request_id: z.string(),
      risk_score: z.nullable(z.number()),
      decision: z.enum(decisions),
      source: z.string(),
      decided_by: z.string(),
      request_path: z.string(),
      fired_rules: z.array(z.string()),
    }),
  ),
  latest_risk_score: z.nullable(z.number()),
  highest_risk_score: z.nullable(z.number()),
  total: z.int(),
});

/** What a session is known for. Its risk is computed from this. Times are epoch milliseconds. */
export const sessionFacts = z.object({
  opened_at: z.int(),
  expires_at: z.int(),
  updated_at: z.int(),
  risk_score: z.number(),
  parts: z.array(riskPart),
  renewals: z.int(),
  address_changes: z.int(),
  user_agent_changes: z.int(),
  idle_sessions_of_network: z.int(),
  requests_per_minute: z.int(),
  reports: z.int(),
  implausible_reports: z.int(),
  interacted: z.boolean(),
  traits: z.array(z.enum(telemetryTraits)),
});

export const sessionTelemetryResponse = z.object({
  jti: z.string(),
  first_seen: z.nullable(z.int()),
  last_seen: z.nullable(z.int()),
  requests: z.object(counted),
  ips: z.array(z.string()),
  asns: z.array(z.int()),
  countries: z.array(z.string()),
  user_agents: z.array(z.string()),
  ja4s: z.array(z.string()),
  device_type: z.nullable(z.string()),
  latest_risk_score: z.nullable(z.number()),
  /** In how many of the session's verdicts each rule fired. */
  fired_rules: z.array(z.object({ id: z.string(), verdicts: z.int() })),
  /** The facts that the session's risk is computed from; `null` for an unknown or erased session. */
  session: z.nullable(sessionFacts),
  /** What the protect script reported, oldest first. */
  telemetry: z.array(z.object({ timestamp: z.int(), report: z.unknown() })),
});
