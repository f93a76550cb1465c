/**
 * The decision table (see "Which rule wins" in `docs/access-rules.md`). Seven inputs each give a verdict or none. An
 * `allow` lifts some of the inputs below it, and of the inputs that are left the most restrictive decides: `block` >
 * `challenge` > `allow`. Pure, so that a test compares every combination with an independent oracle.
 */
import type { BotProof, Decision, DecisionInput, IpCategory } from '../contract/vocabulary.ts';
import type { MatchedRule } from './types.ts';

/** Each is `null` when it gives no verdict. */
export interface DecideInputs {
  /** Most specific enforced network rule. */
  network: MatchedRule | null;
  /** Most restrictive enforced client rule. */
  client: MatchedRule | null;
  /** What the bot policy says about the bot that this is, or claims to be. */
  bot: { verdict: Decision; id: string; proof: BotProof } | null;
  category: { verdict: Decision; category: IpCategory } | null;
  risk: { verdict: Decision; score: number } | null;
  /** A limit that the request is above. */
  limit: { verdict: Decision; name: string } | null;
  policy: { verdict: Decision; reason: string } | null;
}

export interface DecideOutcome {
  decision: Decision;
  /** The input that decided; `default` when no input gave a verdict that was not lifted. */
  input: DecisionInput;
  /** Rule id, `bot:<id>`, `category:<name>`, `risk:<verdict>`, `limit:<name>`, `policy:<reason>` or `default`. */
  decidedBy: string;
}

export const restrictiveness: Record<Decision, number> = { allow: 0, challenge: 1, block: 2 };

/** In the order of their bits. */
const liftable = ['client', 'bot', 'category', 'risk', 'limit', 'policy'] as const;
const CLIENT = 1;
const BOT = 2;
const CATEGORY = 4;
const RISK = 8;
const LIMIT = 16;
const POLICY = 32;

/** Whether the bot is who it says it is. */
export function isProved(proof: BotProof): boolean {
  return proof !== 'claimed' && proof !== 'impostor';
}

/** The lifted inputs in the order of the table, for explanations. `decide` uses the bits. */
export function liftedInputs(inputs: DecideInputs): DecisionInput[] {
  const bits = liftedBits(inputs);
  return liftable.filter((input, place) => inputs[input] && bits & (1 << place));
}

/**
 * It does not matter whether a lifted input still lifts others: what lifts `client`, `bot` or `category` also lifts
 * everything that these lift.
 */
function liftedBits({ network, client, bot, category, policy }: DecideInputs): number {
  let bits = 0;
  if (network?.verdict === 'allow') {
    if (network.type === 'asn') bits = CATEGORY | RISK | LIMIT | POLICY;
    else if (network.type === 'countryCode') bits = CATEGORY | POLICY;
    else bits = CLIENT | BOT | CATEGORY | RISK | LIMIT | POLICY;
  }
  // Anyone can forge a user agent, so its allow lifts the path's policy and nothing else.
  if (client?.verdict === 'allow' || category?.verdict === 'allow') bits |= POLICY;
  if (bot?.verdict === 'allow') {
    // A path that the operator closed stays closed. A name without a proof is a user agent.
    if (!isClosedPath(policy)) bits |= POLICY;
    if (isProved(bot.proof)) bits |= CATEGORY | RISK | LIMIT;
  }
  return bits;
}

/** By a path rule or a policy. The gate's own reasons, such as `onPending`, have capitals; no policy's name has one. */
function isClosedPath(policy: DecideInputs['policy']): boolean {
  return policy?.verdict === 'block' && /^(?:path:|[a-z0-9-]+$)/.test(policy.reason);
}

/** Of two equal verdicts, the input that comes first in the table decides. */
export function decide(inputs: DecideInputs): DecideOutcome {
  const { network, client, bot, category, risk, limit, policy } = inputs;
  const lifted = liftedBits(inputs);
  let decision: Decision = 'allow';
  let input: DecisionInput = 'default';
  if (network) {
    decision = network.verdict;
    input = 'network';
  }
  if (client && !(lifted & CLIENT) && stands(client.verdict, decision, input)) {
    decision = client.verdict;
    input = 'client';
  }
  if (bot && !(lifted & BOT) && stands(bot.verdict, decision, input)) {
    decision = bot.verdict;
    input = 'bot';
  }
  if (category && !(lifted & CATEGORY) && stands(category.verdict, decision, input)) {
    decision = category.verdict;
    input = 'category';
  }
  if (risk && !(lifted & RISK) && stands(risk.verdict, decision, input)) {
    decision = risk.verdict;
    input = 'risk';
  }
  if (limit && !(lifted & LIMIT) && stands(limit.verdict, decision, input)) {
    decision = limit.verdict;
    input = 'limit';
  }
  if (policy && !(lifted & POLICY) && stands(policy.verdict, decision, input)) {
    decision = policy.verdict;
    input = 'policy';
  }
  return { decision, input, decidedBy: attribution(inputs, input) };
}

function stands(verdict: Decision, over: Decision, heldBy: DecisionInput): boolean {
  return heldBy === 'default' || restrictiveness[verdict] > restrictiveness[over];
}

function attribution(
  { network, client, bot, category, risk, limit, policy }: DecideInputs,
  input: DecisionInput,
): string {
  if (input === 'network' && network) return network.id;
  if (input === 'client' && client) return client.id;
  if (input === 'bot' && bot) return `bot:${bot.id}`;
  if (input === 'category' && category) return `category:${category.category}`;
  if (input === 'risk' && risk) return `risk:${risk.verdict}`;
  if (input === 'limit' && limit) return `limit:${limit.name}`;
  if (input === 'policy' && policy) return `policy:${policy.reason}`;
  return 'default';
}

/**
 * The position of a visitor in a rollout: 0–9999, in hundredths of a percent, the same in every isolate and for every
 * request. FNV-1a with the finaliser of MurmurHash3 is fast and even. It is not a secret.
 */
export const ROLLOUT_BUCKETS = 10_000;

export function rolloutBucket(visitorKey: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < visitorKey.length; i++) {
    const unit = visitorKey.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 255), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % ROLLOUT_BUCKETS;
}
