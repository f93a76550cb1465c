/**
 * How a Protect instance behaves: what one edge Worker enforces. Every field has a default, so `{name, cname,
 * globalSiteKey}` makes a working instance. The management API also accepts older words (`instance-settings.ts`). The edge's
 * config carries what this schema made, and checks its form (`policy-form.ts`).
 */
import * as z from 'zod/mini';
import { botPolicy } from './bot-policy.ts';
import { botPolicyDefault } from './bot-policy-default.ts';
import {
  challengeKinds,
  type Decision,
  decisions,
  ipCategories,
  type IpCategory,
  pathActions,
  pathTypes,
  pendingActions,
} from '../vocabulary.ts';

type PendingAction = (typeof pendingActions)[number];

/**
 * A path pattern: literal characters, `*` within one segment, `**` across segments. It is matched against the
 * canonical path and never against the query.
 */
export const pathPattern = z.string().check(z.minLength(1), z.maxLength(256), z.regex(/^\/[^\s?#]*$/));
export const PATH_RULES_MAX = 200;

export const endpointRule = z.strictObject({ pattern: pathPattern, pathType: z.enum(pathTypes) });

/** First matching rule in list order wins; `inherit` ends the search and leaves policy to the path type. */
export const pathRule = z.strictObject({
  pattern: pathPattern,
  methods: z.optional(z.array(z.string().check(z.regex(/^[A-Z]{1,16}$/))).check(z.minLength(1), z.maxLength(16))),
  action: z.enum(pathActions),
  /** No session is needed here: webhooks, mobile apps, health checks. */
  waiveSession: z._default(z.boolean(), false),
});

/**
 * Challenge difficulty by risk score. Of the rows whose `minScore` the session reaches, the highest one counts. A row
 * makes a challenge harder than the site's settings do, never easier.
 */
export const challengeDifficultyRow = z.strictObject({
  minScore: z.number().check(z.gte(0), z.lte(1)),
  captchaType: z.optional(z.enum(challengeKinds)),
  powDifficulty: z.optional(z.int().check(z.gte(1), z.lte(10))),
});
export type ChallengeDifficultyRow = z.infer<typeof challengeDifficultyRow>;
/** From 0.5 on 1.6 times the usual work; from 0.7 on 2.5 times, and beside it a puzzle with more work (`level-prices.ts`). */
const challengeDifficultyDefault: ChallengeDifficultyRow[] = [
  { minScore: 0.5, powDifficulty: 5 },
  { minScore: 0.7, captchaType: 'puzzle', powDifficulty: 6 },
];

const colour = z.string().check(z.regex(/^#[0-9a-fA-F]{6}$/));
const line = z.string().check(z.maxLength(200));
/** A page of the operator's own: on the site that shows the link, or anywhere over HTTPS. */
export const pageUrl = z.string().check(z.maxLength(2048), z.regex(/^(https:\/\/|\/(?![/\\]))[^\s"'<>]*$/));
/** Without the characters that would add a subject or a second address to a `mailto:`. */
const CONTACT = /^(https:\/\/[^\s"'<>]+|[\w.+-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+)$/;
/** Shown on the interstitial and block pages as text, never as markup. */
export const branding = z.strictObject({
  name: z.optional(line),
  logoUrl: z.optional(z.string().check(z.maxLength(2048), z.regex(/^(https:\/\/|\/)[^\s"'<>]*$/))),
  primaryColor: z.optional(colour),
  backgroundColor: z.optional(colour),
  textColor: z.optional(colour),
  title: z.optional(line),
  message: z.optional(z.string().check(z.maxLength(1000))),
  supportUrl: z.optional(z.string().check(z.maxLength(2048), z.regex(/^(https:\/\/|mailto:)[^\s"'<>]*$/))),
  privacyUrl: z.optional(pageUrl),
  /** Shown beside the reference: an email address, or a page over HTTPS. */
  contact: z.optional(z.string().check(z.maxLength(320), z.regex(CONTACT))),
});
export type Branding = z.infer<typeof branding>;

const enforcementDefaults = { onPending: 'budget', onChallenge: 'challenge', onError: 'allow' } as const;

/** The fields that name actions. The parameters are the words that they accept. */
export function actionFields(action: z.ZodMiniType<Decision>, pendingAction: z.ZodMiniType<PendingAction>) {
  /**
   * `onPending`: a `GET` or `HEAD` page without a session. `budget` passes it while its network has `pendingBudget` left,
   * and then does what `onChallenge` says. `onChallenge`: what a challenge by risk or policy becomes on
   * this path type. `onError`: what a request gets when no ruleset was ever loaded.
   */
  const enforcement = z.strictObject({
    onPending: z._default(pendingAction, 'budget'),
    onChallenge: z._default(action, 'challenge'),
    onError: z._default(action, 'allow'),
  });
  /** One optional field per category; any other name is refused. */
  const categoryRules = z.strictObject(
    Object.fromEntries(ipCategories.map((category) => [category, z.optional(action)])) as Record<
      IpCategory,
      z.ZodMiniOptional<typeof action>
    >,
  );
  return {
    ipCategoryRules: z._default(categoryRules, {}),
    enforcementPolicy: z._default(
      z.strictObject({
        html: z._default(enforcement, enforcementDefaults),
        json: z._default(enforcement, enforcementDefaults),
      }),
      { html: enforcementDefaults, json: enforcementDefaults },
    ),
  };
}

const { ipCategoryRules, enforcementPolicy } = actionFields(z.enum(decisions), z.enum(pendingActions));

const paceCount = z.int().check(z.gte(0), z.lte(100_000));

/** All fields are optional on create and update. */
export const instancePolicy = z.strictObject({
  /** Host names this instance answers for; empty means any. */
  hosts: z._default(z.array(z.string().check(z.maxLength(255))).check(z.maxLength(100)), []),
  ipCategoryRules,
  /** From this risk score on a session is challenged, or blocked. 1 means never: the score is recorded only. */
  challengeThreshold: z._default(z.number().check(z.gte(0), z.lte(1)), 0.5),
  blockThreshold: z._default(z.number().check(z.gte(0), z.lte(1)), 0.85),
  challengeDifficulty: z._default(z.array(challengeDifficultyRow).check(z.maxLength(10)), challengeDifficultyDefault),
  defaultPathType: z._default(z.enum(pathTypes), 'html'),
  endpointRules: z._default(z.array(endpointRule).check(z.maxLength(PATH_RULES_MAX)), []),
  pathRules: z._default(z.array(pathRule).check(z.maxLength(PATH_RULES_MAX)), []),
  enforcementPolicy,
  /**
   * Pages without a session in ten minutes for one /24 or /56, where `onPending` is `budget`. The /16 or /48 around it has
   * ten times as many, and what those pages load a hundred times as many.
   */
  pendingBudget: z._default(z.int().check(z.gte(1), z.lte(100_000)), 30),
  /**
   * Pages and calls of one session in ten minutes. Within them a visitor notices nothing. Beyond them the session's browser
   * works for more, at a price that doubles, then gets the challenge, then 429. 0 for either: sessions are not metered.
   */
  pace: z._default(z.strictObject({ html: z._default(paceCount, 60), json: z._default(paceCount, 600) }), {
    html: 60,
    json: 600,
  }),
  /** What bots get that say who they are, and what robots.txt tells them. */
  botPolicy: z._default(botPolicy, botPolicyDefault),
  sessionsEnabled: z._default(z.boolean(), true),
  /** Inject the protect script into allowed HTML documents. */
  autoInject: z._default(z.boolean(), false),
  /** Record what would have been decided, and forward everything. */
  monitor: z._default(z.boolean(), false),
  /** Percent of visitors enforced on, stable per visitor. */
  rollout: z._default(z.number().check(z.gte(0), z.lte(100)), 100),
  /** Lifetime of a clearance. */
  clearanceSeconds: z._default(z.int().check(z.gte(60), z.lte(86_400)), 1800),
  /** Lowest level of a solved challenge that lifts a challenge: 0 any lane, 1 a proof of work, 2 four times the work, with an image or a puzzle. */
  clearanceLevel: z._default(z.int().check(z.gte(0), z.lte(2)), 0),
  branding: z._default(branding, {}),
  submission: z._default(
    z.strictObject({
      tokenField: z._default(z.string().check(z.regex(/^[A-Za-z0-9_.[\]-]{1,64}$/)), 'captcha-response'),
      /** Dot path of the field in a JSON body. Empty means the top level. */
      jsonPath: z._default(z.string().check(z.regex(/^[A-Za-z0-9_.-]{0,256}$/)), ''),
      /** Whether the origin sees the token field. */
      forwardToken: z._default(z.boolean(), true),
    }),
    { tokenField: 'captcha-response', jsonPath: '', forwardToken: true },
  ),
});
export type InstancePolicy = z.infer<typeof instancePolicy>;
