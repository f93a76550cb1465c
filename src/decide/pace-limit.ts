/** A session that is beyond its pace, as the `limit` input of the decision table. */
import { restrictiveness, type DecideInputs } from '../rules/decision-table.ts';
import type { PaceReading } from '../risk/pace.ts';
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
  pace: PaceReading | null;
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

/** For the log: every limit that the request was above. */
export function limitsFired(inputs: LimitedRequest): readonly RecordedRule[] {
  const { limitsFired: asked = NONE } = inputs;
  const pace = paceLimit(inputs);
  return pace === null ? asked : [...asked, { id: `limit:${SESSION_PACE}`, verdict: pace.verdict, mode: 'enforce' }];
}

/** Where `onChallenge` is `allow`, only 429 is left. */
function paceLimit(inputs: LimitedRequest): DecideInputs['limit'] {
  const state = (isHeldToPace(inputs) ? inputs.pace?.state : null) ?? 'within';
  if (state === 'within') return null;
  const { policy, path } = inputs;
  const verdict = state === 'beyond' ? 'block' : policy.enforcementPolicy[path.pathType].onChallenge;
  return verdict === 'allow' ? null : { verdict, name: SESSION_PACE };
}
