/** A session that is beyond its pace, as the `limit` input of the decision table. */
import { restrictiveness, type DecideInputs } from '../rules/decision-table.ts';
import type { PaceReading, PaceState } from '../risk/pace.ts';
import type { Decision } from '../contract/vocabulary.ts';
import { isProvedBot } from './policy-input.ts';
import type { PathPolicy } from './path-policy.ts';
import type { BotSignal } from '../bots/bot-proof.ts';
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';
import type { InstancePolicy } from '../contract/management/instance-policy.ts';

/** No limit of an operator has capitals in its name. */
export const SESSION_PACE = 'sessionPace';

type RecordedRule = VerdictRecord['fired_rules'][number];

interface HeldRequest {
  /** How far the session is within its pace; `null`: it is not metered. */
  pace: Pick<PaceReading, 'state'> | null;
  path: PathPolicy;
  bot: BotSignal | null;
  preflight: boolean;
}

interface LimitedRequest extends HeldRequest {
  policy: Pick<InstancePolicy, 'enforcementPolicy'>;
  /** The strictest enforced limit of the operator that the request is above, and all that it is above. */
  limit?: DecideInputs['limit'];
  limitsFired?: readonly RecordedRule[];
}

/** Whether a request is held to a pace: not where no session is needed, and no proved bot is. */
export function isHeldToPace({ path, bot, preflight }: Omit<HeldRequest, 'pace'>): boolean {
  return !path.exempt && !path.waiveSession && !preflight && !isProvedBot(bot);
}

/** The stricter one of the session's pace and the operator's limit that the request is above. */
export function limitInput(inputs: LimitedRequest): DecideInputs['limit'] {
  const { limit: asked = null } = inputs;
  const pace = paceLimit(inputs);
  if (pace === null || asked === null) return pace ?? asked;
  return restrictiveness[asked.verdict] > restrictiveness[pace.verdict] ? asked : pace;
}

const NONE: readonly RecordedRule[] = [];

/**
 * For the log: every limit that the request was above. A spent session is recorded as challenged, whatever `onChallenge`
 * makes of it, so that a preview can tell it from one that is beyond. `monitor`: it decided nothing.
 */
export function limitsFired(inputs: LimitedRequest): readonly RecordedRule[] {
  const { limitsFired: asked = NONE } = inputs;
  const state = stateOf(inputs);
  if (state === 'within') return asked;
  return [...asked, firedPace(state, paceLimit(inputs) === null ? 'monitor' : 'enforce')];
}

export function firedPace(state: Exclude<PaceState, 'within'>, mode: RecordedRule['mode']): RecordedRule {
  return { id: `limit:${SESSION_PACE}`, verdict: state === 'beyond' ? 'block' : 'challenge', mode };
}

/** The state that `firedPace` recorded. */
export function recordedPace(fired: readonly RecordedRule[]): PaceState {
  const above = fired.find(({ id }) => id === `limit:${SESSION_PACE}`);
  if (above === undefined) return 'within';
  return above.verdict === 'block' ? 'beyond' : 'spent';
}

function stateOf(inputs: LimitedRequest): PaceState {
  return (isHeldToPace(inputs) ? inputs.pace?.state : null) ?? 'within';
}

function paceLimit(inputs: LimitedRequest): DecideInputs['limit'] {
  const state = stateOf(inputs);
  if (state === 'within') return null;
  const { policy, path } = inputs;
  const verdict = paceVerdict(state, policy.enforcementPolicy[path.pathType].onChallenge);
  return verdict === 'allow' ? null : { verdict, name: SESSION_PACE };
}

/** Where `onChallenge` is `allow`, only 429 is left. */
export function paceVerdict(state: Exclude<PaceState, 'within'>, onChallenge: Decision): Decision {
  return state === 'beyond' ? 'block' : onChallenge;
}
