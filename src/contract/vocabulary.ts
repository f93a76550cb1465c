/**
 * The words of the wire. Every enum that crosses a process boundary is declared here once, and the types are inferred
 * from the lists. No zod and no other dependency: the hot path imports this file.
 */

/** Restrictiveness rises with the index: `block` > `challenge` > `allow`. */
export const decisions = ['allow', 'challenge', 'block'] as const;
export type Decision = (typeof decisions)[number];

/** What an edge access rule matches on. */
export const edgeRuleTypes = ['ip', 'ipMask', 'ja4Hash', 'userAgent', 'countryCode', 'asn'] as const;
export type EdgeRuleType = (typeof edgeRuleTypes)[number];

/** Address categories an instance can give a verdict to (`ipCategoryRules`). */
export const ipCategories = ['tor', 'datacenter', 'proxy', 'vpn', 'abuser', 'mobile', 'crawler'] as const;
export type IpCategory = (typeof ipCategories)[number];

export const pathTypes = ['html', 'json'] as const;
export type PathType = (typeof pathTypes)[number];

export const deviceTypes = ['desktop', 'mobile', 'tablet', 'bot', 'unknown'] as const;
export type DeviceType = (typeof deviceTypes)[number];

/** The input of the decision table that decided, or `default` when none of them did. */
export const decisionInputs = ['network', 'client', 'bot', 'category', 'risk', 'limit', 'policy', 'default'] as const;
export type DecisionInput = (typeof decisionInputs)[number];

/**
 * What kind of request handling produced a verdict; the `source` column of the verdict log.
 *
 * `access-rule`, `ip-category`, `risk`, `limit`, `policy`: the deciding input of the table.
 * `no-session`: a json path without a session. `bootstrap-passthrough`: an html page let through so
 * that its script can open a session. `clearance`: a challenge lifted by a clearance cookie, which also stands for the
 * session that a json path asks for.
 * `verified`: a challenged submission whose token was verified in place. `exempt`: a path that is
 * never challenged. `default`: no input decided. `internal`: a call to `/__protect/*`.
 * `error`: a failure policy decided. `preflight`: a CORS preflight. `bot`: the instance's bot policy.
 * `impostor`: the bot policy, for a client that uses the name of a bot and is provably not it.
 */
export const verdictSources = [
  'access-rule',
  'ip-category',
  'risk',
  'policy',
  'no-session',
  'bootstrap-passthrough',
  'clearance',
  'verified',
  'exempt',
  'default',
  'internal',
  'error',
  'preflight',
  'bot',
  'impostor',
  'limit',
] as const;
export type VerdictSource = (typeof verdictSources)[number];
/** Sources of decisions about visitors: all but the gate's own endpoints, which a health check calls. */
export const visitorSources = verdictSources.filter((source) => source !== 'internal');

/** What a bot that says who it is comes for. A bot can have several. */
export const namedBehaviours = [
  'search',
  'agent',
  'training',
  'preview',
  'feed',
  'monitor',
  'webhook',
  'archive',
  'seo',
  'other',
] as const;
export type NamedBehaviour = (typeof namedBehaviours)[number];
/** `suspected-agent`: a program seems to operate the browser of a visitor who names no bot. */
export const botBehaviours = [...namedBehaviours, 'suspected-agent'] as const;
export type BotBehaviour = (typeof botBehaviours)[number];

/**
 * How a bot's name was proved: by an address of its published `range`, by reverse `dns`, or by a `signature`.
 * `claimed`: not proved. `impostor`: every proof that the bot has was tried and none holds.
 */
export const namedProofs = ['range', 'dns', 'signature', 'claimed', 'impostor'] as const;
/** `suspected`: no bot was named. The pages of the session look operated by a program. */
export const botProofs = [...namedProofs, 'suspected'] as const;
export type BotProof = (typeof botProofs)[number];

/** What a path rule does. `inherit` leaves it to the path's type. */
export const pathActions = ['allow', 'challenge', 'block', 'inherit'] as const;
/** What a page without a session gets. */
export const pendingActions = ['pass', 'budget', 'challenge', 'block'] as const;

/** What the bot policy does with a bot. `charge` answers 402. `inherit` leaves it to the rest of the policy. */
export const botActions = ['allow', 'challenge', 'block', 'charge', 'inherit'] as const;
export type BotAction = (typeof botActions)[number];
export const botPresets = ['open', 'search-only', 'closed'] as const;
export type BotPreset = (typeof botPresets)[number];
/**
 * What an edge found at the origin's robots.txt: a file, one longer than crawlers read, none, a page or something binary in
 * its place, or no answer.
 */
export const robotsStates = ['file', 'cut', 'none', 'page', 'error'] as const;
export type RobotsState = (typeof robotsStates)[number];

/** Why the log refuses a verdict. */
export const refusalReasons = [
  'invalid-record',
  'unknown-version',
  'foreign-instance',
  'timestamp-in-future',
  'timestamp-too-old',
  'outside-batch',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** `no-session`, `invalid-session` and `session-not-found` are also values of `X-Protect-Status`. */
export const sessionStatuses = [
  'active',
  'none',
  'no-session',
  'invalid-session',
  'session-not-found',
  'waived',
  'off',
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** What a visitor can be asked to solve. `frictionless` chooses one of them by score. */
export const challengeKinds = ['pow', 'image', 'puzzle'] as const;
export type ChallengeKind = (typeof challengeKinds)[number];
export const captchaTypes = ['frictionless', 'pow', 'image', 'puzzle'] as const;
export type CaptchaType = (typeof captchaTypes)[number];

/** How a proof of work is computed. The service picks, so that a client cannot choose an easier lane. */
export const powLanes = ['rsw', 'sha256', 'wait'] as const;
export type PowLane = (typeof powLanes)[number];

export const accountTiers = ['free', 'professional', 'enterprise', 'premium'] as const;
export type AccountTier = (typeof accountTiers)[number];

/** What a policy's condition can look at. See `management/policy-set/policy-fields.ts`. */
export const policyFields = [
  'host',
  'path',
  'method',
  'query',
  'header',
  'cookie',
  'ip',
  'asn',
  'country',
  'ja4',
  'userAgent',
  'deviceType',
  'bot',
  'agent',
  'ipCategory',
  'sessionStatus',
  'riskScore',
  'pathType',
] as const;
export type PolicyField = (typeof policyFields)[number];
/** What `agent` can be. A request that is nobody's but its visitor's has none. */
export const agentWords = ['suspected'] as const;
export type AgentWord = (typeof agentWords)[number];

/** `matches`: a pattern with `*`, never a regular expression. `ipIn`: networks. */
export const policyOperators = [
  'equals',
  'in',
  'startsWith',
  'endsWith',
  'contains',
  'matches',
  'exists',
  'greaterThan',
  'ipIn',
] as const;
export type PolicyOperator = (typeof policyOperators)[number];

/** What a limit counts by. `header:<name>` and `cookie:<name>` stand beside these. */
export const limitKeyFacts = [
  'ip',
  'prefix',
  'asn',
  'country',
  'ja4',
  'session',
  'bot',
  'path',
  'host',
  'user',
] as const;
export const limitAlgorithms = ['sliding', 'bucket'] as const;
/** What a limit does with a request above its count. */
export const limitActions = ['429', 'challenge', 'block'] as const;
