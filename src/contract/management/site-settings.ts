/**
 * Settings of a site. Every field has a type, a range and, where possible, a default, so `{domains: ['example.com']}` is
 * a working site. Unknown fields are refused by name: a misspelt limit would otherwise be no limit. Times are
 * milliseconds. See docs/site-settings.md.
 */
import * as z from 'zod/mini';
import { blocklistProblem } from './email-blocklist.ts';
import { pageUrl } from './instance-policy.ts';
import { normaliseDomain } from './site-domain.ts';
import { captchaTypes, challengeKinds } from '../vocabulary.ts';

/** Some seconds on a slow connection. */
export const PAD_BYTES_MAX = 5 * 1024 * 1024;

/** Far above any real site, and few enough to scan for each challenge. */
export const SITE_DOMAINS_MAX = 100;

const unit = z.number().check(z.gte(0), z.lte(1));
const positive = z.number().check(z.gt(0), z.lte(1_000_000));
const timeoutMs = z.int().check(z.gte(1000), z.lte(600_000));
export const powDifficulty = z.number().check(z.gte(1), z.lte(10));
/** Bounds both the pictures of a round and the rounds of a challenge. */
const rounds = z.int().check(z.gte(1), z.lte(32));
const tolerancePx = z.int().check(z.gte(5), z.lte(1000));

const domain = z.pipe(
  z.pipe(
    z.string().check(
      z.minLength(1),
      z.maxLength(512),
      z.refine((value) => normaliseDomain(value) !== null, 'not a host name; use example.com or *.example.com'),
    ),
    z.transform((value) => normaliseDomain(value) ?? ''),
  ),
  z.string(),
);

/** From the image threshold on an image, from the puzzle threshold on a puzzle, below both a proof of work. */
const frictionlessThreshold = z.union([
  unit,
  z
    .strictObject({
      frictionlessPuzzleThreshold: z._default(unit, 0.5),
      frictionlessImageThreshold: z._default(z.number().check(z.gte(0), z.lte(100)), 1),
    })
    .check(
      z.refine(
        (value) => value.frictionlessImageThreshold >= value.frictionlessPuzzleThreshold,
        'frictionlessImageThreshold must not be below frictionlessPuzzleThreshold',
      ),
    ),
]);

const decoyCount = z.int().check(z.gte(0), z.lte(200));
const decoyEdgeDarkness = z.number().check(z.gte(0), z.lte(40));
const decoyBodyBrightness = z.number().check(z.gte(-20), z.lte(20));
const pieceScale = z
  .strictObject({
    min: z.number().check(z.gte(0.05), z.lte(0.95)),
    max: z.number().check(z.gte(0.05), z.lte(0.95)),
  })
  .check(z.refine((value) => value.min <= value.max, 'min must not be above max'));
export const puzzleLook = z.strictObject({
  decoyCount: z._default(decoyCount, 5),
  decoyEdgeDarkness: z._default(decoyEdgeDarkness, 20),
  decoyBodyBrightness: z._default(decoyBodyBrightness, 4),
  decoyHoleDarken: z._default(unit, 0.7),
  holeDarken: z._default(unit, 0.55),
  pieceScale: z._default(pieceScale, { min: 0.15, max: 0.45 }),
});
export type PuzzleLook = z.infer<typeof puzzleLook>;
/** What is drawn differently for one kind of address. The rest stays as the site has it. */
export const puzzleLookChange = z.strictObject({
  decoyCount: z.optional(decoyCount),
  decoyEdgeDarkness: z.optional(decoyEdgeDarkness),
  decoyBodyBrightness: z.optional(decoyBodyBrightness),
  decoyHoleDarken: z.optional(unit),
  holeDarken: z.optional(unit),
  pieceScale: z.optional(pieceScale),
});

const ipAction = z.enum(['allow', 'reject', 'flag']);
const ipActions = {
  countryChangeAction: z._default(ipAction, 'allow'),
  cityChangeAction: z._default(ipAction, 'allow'),
  ispChangeAction: z._default(ipAction, 'allow'),
  distanceExceedAction: z._default(ipAction, 'reject'),
  abuseScoreExceedAction: z._default(ipAction, 'reject'),
};
/** The defaults of `actions` when the whole field is missing. */
const ipActionDefaults = {
  countryChangeAction: 'allow',
  cityChangeAction: 'allow',
  ispChangeAction: 'allow',
  distanceExceedAction: 'reject',
  abuseScoreExceedAction: 'reject',
} as const;

const ipOverride = z.strictObject({
  actions: z.optional(
    z.strictObject({
      countryChangeAction: z.optional(ipAction),
      cityChangeAction: z.optional(ipAction),
      ispChangeAction: z.optional(ipAction),
      distanceExceedAction: z.optional(ipAction),
      abuseScoreExceedAction: z.optional(ipAction),
    }),
  ),
  distanceThresholdKm: z.optional(positive),
  abuseScoreThreshold: z.optional(positive),
  requireAllConditions: z.optional(z.boolean()),
});

/** How far the address of the verification may differ from the address that solved the challenge. */
const ipValidationRules = z.strictObject({
  enabled: z._default(z.boolean(), false),
  actions: z._default(z.strictObject(ipActions), ipActionDefaults),
  distanceThresholdKm: z._default(positive, 1000),
  abuseScoreThreshold: z._default(positive, 0.005),
  requireAllConditions: z._default(z.boolean(), false),
  forceConsistentIp: z._default(z.boolean(), false),
  /** By the ISO alpha-2 code of the country that the challenge was issued to. */
  countryOverrides: z._default(z.record(z.string().check(z.regex(/^[A-Z]{2}$/)), ipOverride), {}),
});
export type IpValidationRules = z.infer<typeof ipValidationRules>;

/** RE2 patterns, checked as a list because their size is bounded together; see `email-blocklist.ts`. */
const emailPatterns = z.array(z.string().check(z.minLength(1), z.maxLength(256))).check(z.maxLength(50), (context) => {
  // A list that is too long is refused for its length and never compiled.
  const problem = context.issues.length > 0 ? null : blocklistProblem(context.value);
  if (problem === null) return;
  const { index, message } = problem;
  context.issues.push({ code: 'custom', message, path: [index], input: context.value[index] });
});

const spamFilter = z.strictObject({
  enabled: z._default(z.boolean(), false),
  emailRules: z.optional(
    z.strictObject({
      enabled: z._default(z.boolean(), false),
      maxLocalPartDots: z.optional(z.int().check(z.gte(0), z.lte(64))),
      normaliseGmail: z._default(z.boolean(), false),
      useDefaultPatterns: z._default(z.boolean(), false),
      customRegexBlocklist: z._default(emailPatterns, []),
      /** Counted only with `storeMetadata`. */
      maxEmailSubmissionCount: z.optional(z.int().check(z.gte(1), z.lte(1_000_000))),
    }),
  ),
});

const trafficRule = z.strictObject({
  action: z.enum(['block', 'challenge']),
  captchaType: z.optional(z.enum(challengeKinds)),
  powDifficulty: z.optional(powDifficulty),
  solvedImagesCount: z.optional(rounds),
  puzzleTolerance: z.optional(tolerancePx),
  puzzle: z.optional(puzzleLookChange),
  /** Characters of noise in the response to a challenge request: a bot that pays a proxy by the gigabyte pays for them. */
  padBytes: z.optional(z.int().check(z.gte(0), z.lte(PAD_BYTES_MAX))),
});
export type TrafficRule = z.infer<typeof trafficRule>;

/** In order of precedence: the first flag that an address has is the one that counts, with or without a rule for it. */
export const trafficFlags = ['tor', 'vpn', 'proxy', 'datacenter', 'abuser', 'crawler', 'satellite', 'mobile'] as const;
export type TrafficFlag = (typeof trafficFlags)[number];

const names = z.array(z.string().check(z.minLength(1), z.maxLength(128))).check(z.maxLength(50));
const trafficFilter = z.strictObject({
  tor: z.optional(trafficRule),
  vpn: z.optional(trafficRule),
  proxy: z.optional(trafficRule),
  datacenter: z.optional(trafficRule),
  abuser: z.optional(trafficRule),
  crawler: z.optional(trafficRule),
  satellite: z.optional(trafficRule),
  mobile: z.optional(trafficRule),
  abuserScoreThreshold: z._default(unit, 0.5),
  datacenterNameAllowlist: z._default(names, []),
  datacenterNameDenylist: z._default(names, []),
  /**
   * Whether the addresses of a visitor's DNS resolvers are ignored after the DNS path was confirmed. This version does
   * not observe DNS, so verifications report `false` as not evaluated.
   */
  skipExtrasOnValidDnsPath: z._default(z.boolean(), true),
});
export type TrafficFilter = z.infer<typeof trafficFilter>;

/** What a visitor in this context gets from `threshold` on, instead of what the site's settings say. */
const context = z.strictObject({
  type: z._default(z.enum(challengeKinds), 'image'),
  threshold: z._default(z.number().check(z.gte(0.5), z.lte(0.9)), 0.7),
});

export const siteSettings = z
  .strictObject({
    domains: z.array(domain).check(z.minLength(1), z.maxLength(SITE_DOMAINS_MAX)),
    captchaType: z._default(z.enum(captchaTypes), 'frictionless'),
    /** From the solution to its verification. */
    verifiedTimeout: z._default(timeoutMs, 120_000),
    /** From the challenge to its solution. */
    solutionTimeout: z._default(timeoutMs, 60_000),
    frictionlessThreshold: z._default(frictionlessThreshold, 0.5),
    /** Kinds that `frictionless` may choose in addition to the proof of work. */
    frictionlessTypes: z._default(
      z.strictObject({ image: z._default(z.boolean(), true), puzzle: z._default(z.boolean(), true) }),
      { image: true, puzzle: true },
    ),
    powDifficulty: z._default(powDifficulty, 4),
    /** The lowest level of a token that verifies: 0 any lane, 1 a proof of work, 2 four times the work, with an image or a puzzle. */
    minimumLevel: z._default(z.int().check(z.gte(0), z.lte(2)), 1),
    /** Share of pictures that must be judged right. */
    imageThreshold: z._default(unit, 0.8),
    imageMaxRounds: z._default(z.int().check(z.gte(2), z.lte(32)), 32),
    imageMinRounds: z._default(rounds, 2),
    /** From this score on the visitor is refused. Absent means off. */
    autoBanScoreThreshold: z.optional(z.number().check(z.gte(0), z.lte(100))),
    puzzleTolerance: z._default(tolerancePx, 15),
    puzzleMaxDifficulty: z._default(z.int().check(z.gte(0), z.lte(4)), 3),
    puzzle: z.optional(puzzleLook),
    ipValidationRules: z.optional(ipValidationRules),
    disallowWebView: z._default(z.boolean(), false),
    contextAware: z.optional(
      z.strictObject({
        enabled: z._default(z.boolean(), false),
        contexts: z._default(z.strictObject({ default: z.optional(context), webview: z.optional(context) }), {}),
      }),
    ),
    /** Refuses disposable mail domains when `/siteverify` gets an `email`. */
    spamEmailDomainCheckEnabled: z._default(z.boolean(), false),
    spamFilter: z.optional(spamFilter),
    trafficFilter: z.optional(trafficFilter),
    /** Keeps a keyed hash of the email to count submissions per address. */
    storeMetadata: z._default(z.boolean(), false),
    honeypot: z.optional(
      z.strictObject({
        enabled: z._default(z.boolean(), false),
        question: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
        encodingType: z._default(z.enum(['morse', 'semaphore']), 'morse'),
      }),
    ),
    /** Linked below every task. */
    privacyUrl: z.optional(pageUrl),
  })
  .check(
    z.refine((value) => value.imageMinRounds <= value.imageMaxRounds, {
      path: ['imageMinRounds'],
      error: 'imageMinRounds must not be above imageMaxRounds',
    }),
  );
export type SiteSettings = z.infer<typeof siteSettings>;
