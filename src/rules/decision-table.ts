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

/** In the order of the table: of two equal verdicts, the first decides. */
export const tableInputs = ['network', 'client', 'bot', 'category', 'risk', 'limit', 'policy'] as const;
export type TableInput = (typeof tableInputs)[number];

/** What decided, as a verdict record names it. Asked only of an input that says something. */
const nameOf: Record<TableInput, (inputs: DecideInputs) => string> = {
  network: ({ network }) => network!.id,
  client: ({ client }) => client!.id,
  bot: ({ bot }) => `bot:${bot!.id}`,
  category: ({ category }) => `category:${category!.category}`,
  risk: ({ risk }) => `risk:${risk!.verdict}`,
  limit: ({ limit }) => `limit:${limit!.name}`,
  policy: ({ policy }) => `policy:${policy!.reason}`,
};

const NOTHING: readonly TableInput[] = [];
const POLICY: readonly TableInput[] = ['policy'];
const AROUND_A_COUNTRY: readonly TableInput[] = ['category', 'policy'];
const AROUND_AN_OPERATOR: readonly TableInput[] = ['category', 'risk', 'limit', 'policy'];
const ALL_BELOW: readonly TableInput[] = ['client', 'bot', ...AROUND_AN_OPERATOR];
const PROVED_BOT: readonly TableInput[] = ['category', 'risk', 'limit'];

/** Whether the bot is who it says it is. */
export function isProved(proof: BotProof): boolean {
  return proof === 'range' || proof === 'dns' || proof === 'signature';
}

/** The inputs that an `allow` of `input` lifts. */
function liftedBy(input: TableInput, { network, bot, policy }: DecideInputs): readonly TableInput[] {
  switch (input) {
    case 'network':
      if (network?.type === 'asn') return AROUND_AN_OPERATOR;
      return network?.type === 'countryCode' ? AROUND_A_COUNTRY : ALL_BELOW;
    // Anyone can forge a user agent, so its allow lifts the path's policy and nothing else.
    case 'client':
    case 'category':
      return POLICY;
    // A path that the operator closed stays closed. A name without a proof is a user agent.
    case 'bot':
      if (!isProved(bot!.proof)) return isClosedPath(policy) ? NOTHING : POLICY;
      return isClosedPath(policy) ? PROVED_BOT : AROUND_AN_OPERATOR;
    default:
      return NOTHING;
  }
}

/**
 * The inputs that others lift, in the order of the table. It does not matter whether a lifted input still lifts others:
 * what lifts `client`, `bot` or `category` also lifts everything that these lift.
 */
export function liftedInputs(inputs: DecideInputs): readonly TableInput[] {
  let lifted = NOTHING;
  for (const input of tableInputs)
    if (inputs[input]?.verdict === 'allow') lifted = [...lifted, ...liftedBy(input, inputs)];
  return lifted.length === 0 ? lifted : tableInputs.filter((input) => inputs[input] !== null && lifted.includes(input));
}

/** By a path rule or a policy. The gate's own reasons, such as `onPending`, have capitals; no policy's name has one. */
function isClosedPath(policy: DecideInputs['policy']): boolean {
  return policy?.verdict === 'block' && /^(?:path:|[a-z0-9-]+$)/.test(policy.reason);
}

export function decide(inputs: DecideInputs): DecideOutcome {
  const lifted = liftedInputs(inputs);
  let outcome: DecideOutcome = { decision: 'allow', input: 'default', decidedBy: 'default' };
  for (const input of tableInputs) {
    const verdict = inputs[input]?.verdict;
    if (verdict === undefined || lifted.includes(input)) continue;
    if (outcome.input === 'default' || restrictiveness[verdict] > restrictiveness[outcome.decision])
      outcome = { decision: verdict, input, decidedBy: nameOf[input](inputs) };
  }
  return outcome;
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
