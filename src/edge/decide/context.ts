/** A request together with what applies to it: the input and the outcome of deciding. Never changed, only derived. */
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { PathPolicy } from '../../decide/path-policy.ts';
import type { Cleared } from '../limits/pace.ts';
import type { PendingKind } from '../limits/pending-budget.ts';
import type { SessionReading } from '../session/sessions.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { ClearanceClaims, ClearanceReading } from '../session/clearances.ts';
import { errorVerdict, type Verdict, type VerdictInputs } from '../../decide/verdict.ts';

/** A submission that was sealed into an interstitial and came back. Its seal is spent once. */
export interface HeldReturn {
  id: string;
  /** Epoch milliseconds. */
  sealedAtMs: number;
}

/** `units` 0: as many as the response turns out to be. */
export interface PaceUseAsked {
  readonly units: number;
  /** Sessions and clearances that it counts for. */
  readonly payers: readonly string[];
  readonly session: SessionReading;
  readonly clearance: Cleared | null;
}

/** What the gate does because of a judgement. */
export interface Effects {
  /** Takes one from the budget of the network's visitors without a session. */
  readonly pending: PendingKind | null;
  /** JWT of a session that ends soon and is renewed behind the response. */
  readonly renewal: string | null;
  /** A clearance that also holds the visitor's other address family. Its cookie goes with a response of the origin. */
  readonly learned: ClearanceClaims | null;
  /** What the request uses of a pace; `null`: nothing. */
  readonly pace: PaceUseAsked | null;
  /** The session's page is told to work for more. */
  readonly isWorkDue: boolean;
}

export interface RequestContext {
  /** Of the held submission where one came back, else of the request itself. */
  readonly facts: RequestFacts;
  /** `null` before the first config is loaded. */
  readonly config: CompiledConfig | null;
  readonly path: PathPolicy | null;
  readonly rulesetVersion: number;
  readonly verdict: Verdict;
  readonly clearance: ClearanceReading | null;
  /** Of the session, else of the clearance. */
  readonly jti: string | null;
  readonly held: HeldReturn | null;
  readonly effects: Effects;
  /** Name of the origin that a policy names; `null`: none does. */
  readonly origin: string | null;
  /** `Set-Cookie` values for the response, whatever it is. */
  readonly cookies: readonly string[];
}

/** A context whose verdict was made from a loaded config and ruleset. */
export interface JudgedContext extends RequestContext {
  readonly config: CompiledConfig;
  readonly path: PathPolicy;
  readonly isJudged: true;
  /** `null`: no policy names a limit for this request. */
  readonly limits: LimitsAsked | null;
}

/** Limits that policies name for a request, and what its verdict was made from: with them it is made again. */
export interface LimitsAsked {
  readonly names: readonly string[];
  readonly inputs: VerdictInputs;
}

const NO_COOKIES: readonly string[] = [];
const NO_EFFECTS: Effects = { pending: null, renewal: null, learned: null, pace: null, isWorkDue: false };

/** The context of a request that no ruleset judged. */
export function unjudged(facts: RequestFacts, known: Partial<RequestContext> = {}): RequestContext {
  return {
    facts,
    config: null,
    path: null,
    rulesetVersion: 0,
    verdict: errorVerdict('allow', ''),
    clearance: null,
    jti: null,
    held: null,
    effects: NO_EFFECTS,
    origin: null,
    cookies: NO_COOKIES,
    ...known,
  };
}

/** The id of the visitor's open session. `null`: the session is over, or there is only a clearance or nothing. */
export function openSessionId({ verdict, jti }: Pick<RequestContext, 'verdict' | 'jti'>): string | null {
  return verdict.sessionStatus === 'active' ? jti : null;
}

export function isJudged(context: RequestContext): context is JudgedContext {
  return 'isJudged' in context;
}
