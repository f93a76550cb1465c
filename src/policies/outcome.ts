/** What the policies of a config say about one request, and which of two answers is stricter. */
import type { PolicyAction } from '../contract/management/policy-set/policy.ts';
import type { Decision } from '../contract/vocabulary.ts';

type Redirect = Extract<PolicyAction, { action: 'redirect' }>;

/** As in a verdict record. `id` is `policy:<name>`. */
export interface FiredPolicy {
  id: string;
  verdict: Decision;
  mode: 'enforce' | 'monitor';
}

export interface PolicyOutcome {
  /** The first enforced policy that applies and that decides. */
  verdict: {
    name: string;
    action: Decision;
    /** Of a challenge: the lowest level that counts. */
    level: number;
  } | null;
  /** In its place: a redirect, for a request that nothing else stops. */
  redirect: { name: string; location: string; status: Redirect['status'] } | null;
  skipSession: boolean;
  /** Names of limits that count this request, each once. */
  limits: readonly string[];
  /** Name of the origin that gets this request; `null`: no policy says. */
  origin: string | null;
  fired: readonly FiredPolicy[];
  /** Whether the search ended without a verdict and a redirect, in one of the ways to read the path at least. */
  isOpen: boolean;
}

/** Of a request to which no policy applies. */
export const NO_OUTCOME: PolicyOutcome = {
  verdict: null,
  redirect: null,
  skipSession: false,
  limits: [],
  origin: null,
  fired: [],
  isOpen: true,
};

export type PolicyEnd = Pick<PolicyOutcome, 'verdict' | 'redirect'>;

/** An explicit `allow` is less strict than nothing, which leaves a request to what comes after the policies. */
function strictnessOf({ verdict, redirect }: PolicyEnd): number {
  if (verdict === null) return redirect === null ? 1 : 2;
  return verdict.action === 'allow' ? 0 : verdict.action === 'challenge' ? 3 + verdict.level : 9;
}

export function stricterEnd<End extends PolicyEnd>(one: End, other: PolicyEnd): End {
  return strictnessOf(other) > strictnessOf(one) ? { ...one, verdict: other.verdict, redirect: other.redirect } : one;
}

/** Of two readings of one request. */
export function stricterOutcome(one: PolicyOutcome, other: PolicyOutcome): PolicyOutcome {
  return {
    ...stricterEnd(one, other),
    skipSession: one.skipSession && other.skipSession,
    limits: [...new Set([...one.limits, ...other.limits])],
    origin: one.origin ?? other.origin,
    fired: [...new Map([...one.fired, ...other.fired].map((fired) => [fired.id, fired])).values()],
    isOpen: one.isOpen || other.isOpen,
  };
}
