/**
 * What the service returns to its edges: versions, config, a session. Kept apart from what edges send (`edge-api.ts`),
 * because the edge Worker carries these schemas and no others. None of them asks for whole numbers: the check for that
 * would be the only one of its kind there.
 */
import * as z from 'zod/mini';
import { DETECTOR_SET_MAX } from './risk-detectors.ts';
import { policyForm } from '../management/policy-form.ts';
import { policySetForm } from '../management/policy-set/policy-set-form.ts';
import { knownWord } from '../known-words.ts';
import { captchaTypes } from '../vocabulary.ts';
import { configFormats } from './formats.ts';

/** Sessions in one list of the config, 1 MB. An entry lives as long as a session JWT: five minutes. */
export const LISTED_JTIS_MAX = 10_000;

/** About 100 bytes each in an isolate. */
const PENDING_EXEMPT_MAX = 5000;

const id = z.string().check(z.minLength(1), z.maxLength(256));
const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** 32 random bytes, base64url. */
const key = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/));

/**
 * `GET /edge/v1/version`. `delta.version === base.version` means the delta is empty. `bots` is there when the edge asks
 * with `?bots`; `null` before the first table is compiled.
 */
export const edgeVersion = z.object({
  configVersion: id,
  base: z.object({ hash, version: z.number() }),
  delta: z.object({ version: z.number() }),
  bots: z.optional(z.nullable(z.object({ hash }))),
});
export type EdgeVersion = z.infer<typeof edgeVersion>;

export const edgeKeySet = z.object({ kid: id, clearance: key, session: key, seal: key, originSignature: key });
export type EdgeKeySet = z.infer<typeof edgeKeySet>;

/** What of the global site's settings decides how hard a challenge must be: see `captcha/plan/demand.ts`. */
const siteDemand = z.object({
  captchaType: knownWord(captchaTypes, 'frictionless'),
  /** Scores from which `frictionless` asks for a puzzle and for an image, and whether the site allows each. */
  puzzleFrom: z.number(),
  imageFrom: z.number(),
  puzzle: z.boolean(),
  image: z.boolean(),
  powDifficulty: z.number(),
  minimumLevel: z.number(),
});
export type SiteDemand = z.infer<typeof siteDemand>;
/** Of a site whose settings are not known: a proof of work, and no waiting. */
export const unknownSite: SiteDemand = {
  captchaType: 'frictionless',
  puzzleFrom: 0.5,
  imageFrom: 0.5,
  puzzle: true,
  image: true,
  powDifficulty: 4,
  minimumLevel: 1,
};

/**
 * `GET /edge/v1/config`. `configVersion` is also the ETag. Unknown fields are dropped, so that an edge accepts the config
 * of a newer service. A new field is optional or has a default, so that it accepts that of an older one.
 */
export const edgeConfig = z.object({
  /** Absent: the first one. */
  format: z.prefault(z.enum(configFormats), 'GHCONFIG1'),
  configVersion: id,
  instanceId: id,
  policy: policyForm,
  siteKey: id,
  secretKey: id,
  site: z._default(siteDemand, unknownSite),
  keys: z.object({ current: edgeKeySet, previous: z.nullable(edgeKeySet) }),
  /** Ed25519 public keys that sign rulesets, raw 32 bytes base64url. */
  rulesetKeys: z.array(z.object({ kid: id, publicKey: key })).check(z.minLength(1), z.maxLength(8)),
  /** Limits, and the policies that name them. Absent where the instance never had any. */
  policySet: z.optional(policySetForm),
  /** Signs what limits count by. It stays while the instance does. */
  limitKey: z.optional(key),
  /** Style sheet of the gate's pages, without any `<` that would close its element. */
  pageStyle: z._default(z.string().check(z.maxLength(16_384), z.regex(/^[^<]*$/)), ''),
  /** Names of the risk detectors by bit position, see `risk-detectors.ts`. A verdict lists them by name. */
  detectors: z._default(z.array(z.string().check(z.maxLength(64))).check(z.maxLength(DETECTOR_SET_MAX)), []),
  /** The weight of each of them in a session's score, by the same position; 0 counts nothing. */
  detectorWeights: z._default(z.array(z.number().check(z.gte(0), z.lte(1))).check(z.maxLength(DETECTOR_SET_MAX)), []),
  /** Networks whose visitors need no session and no budget for pages, such as a search engine's own. CIDR. */
  pendingExempt: z._default(z.array(z.string().check(z.maxLength(49))).check(z.maxLength(PENDING_EXEMPT_MAX)), []),
  /**
   * Whether the service takes `inputs` in verdict records. An older one refuses a record with a field that it does not
   * know, so it gets the sentence in their place.
   */
  takesInputs: z._default(z.boolean(), false),
  /** Sessions whose score reached the challenge threshold after their JWT was signed. */
  raisedJtis: z
    .array(
      z.object({
        jti: id,
        score: z.number(),
        /** `detectorBits` of the score's parts. */
        detectors: z.optional(z.number()),
      }),
    )
    .check(z.maxLength(LISTED_JTIS_MAX)),
  /** Sessions that were ended while one of their JWTs may still be valid. */
  withdrawnJtis: z.optional(z.array(id).check(z.maxLength(LISTED_JTIS_MAX))),
});
export type EdgeConfig = z.infer<typeof edgeConfig>;

/** `POST /edge/v1/verdicts`: every record of the batch is one of these. */
export const verdictBatchResponse = z.object({
  accepted: z.number(),
  duplicates: z.number(),
  rejected: z.array(z.object({ index: z.number(), reason: z.string() })),
});
export type VerdictBatchResponse = z.infer<typeof verdictBatchResponse>;

/** `POST /edge/v1/sessions`. Both go into a cookie. */
export const edgeSession = z.object({
  jti: z.string().check(z.regex(/^[\w.-]{1,256}$/)),
  jwt: z.string().check(z.regex(/^[\w.-]{1,4096}$/)),
  /** Epoch milliseconds: when the session ends, and when this JWT does. */
  expiresAt: z.number(),
  jwtExpiresAt: z.number(),
  /** Domain of the cookie, by the public suffix list; `null` or absent means host-only. */
  cookieDomain: z.optional(z.nullable(z.string().check(z.maxLength(255)))),
  /** Work that the session's page should do next: a `SessionChallenge`, passed on as it is. */
  work: z.optional(z.looseObject({ challenge: z.string().check(z.maxLength(8192)), pow: z.looseObject({}) })),
});
export type EdgeSession = z.infer<typeof edgeSession>;

/** RFC 9309 section 2.5: a crawler reads at least as much of robots.txt. */
export const ROBOTS_MAX_BYTES = 512_000;
