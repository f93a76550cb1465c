/** What happens to a session by its score, with the default policy of an instance. */
import { instancePolicy } from '../../src/contract/management/instance-policy.ts';
import type { Replayed } from './replay.ts';
import type { RecordedKind } from './recording.ts';

const { challengeThreshold, blockThreshold, challengeDifficulty } = instancePolicy.parse({});
const taskFrom = challengeDifficulty.find(({ captchaType }) => captchaType === 'puzzle')!.minScore;

/** `work`: a challenge by proof of work. `task`: a challenge with something to see or hear as well. */
export const outcomes = ['allowed', 'work', 'task', 'blocked'] as const;
export type Outcome = (typeof outcomes)[number];

export const thresholds = { work: challengeThreshold, task: taskFrom, blocked: blockThreshold } as const;

export function outcomeOf(score: number): Outcome {
  if (score >= blockThreshold) return 'blocked';
  if (score >= taskFrom) return 'task';
  return score >= challengeThreshold ? 'work' : 'allowed';
}

/** Automation that does not want to be found. */
const hidden: readonly RecordedKind[] = ['stealth', 'window-stealth', 'os-input'];

export const isHidden = ({ session }: Replayed): boolean => hidden.includes(session.kind);
export const isPersonLike = ({ session }: Replayed): boolean => session.kind === 'person-like';
export const isStoppedByTask = ({ score }: Replayed): boolean => score >= taskFrom;
