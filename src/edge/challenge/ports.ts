/** What the challenges use of an isolate. */
import type { EdgeEnvironment } from '../environment.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';
import type { Limits } from '../limits/limits.ts';
import type { BodyBudget } from '../submission/body-budget.ts';
import type { LocalChallenges } from './local-challenge.ts';
import type { WaitLane } from './wait-lane.ts';

export interface ChallengePorts {
  environment: Pick<EdgeEnvironment, 'rules' | 'siteverify' | 'failModeChallenge' | 'failModeVerify'>;
  service: Pick<ServiceClient, 'reachable'>;
  bodies: BodyBudget;
  limits: Limits;
  localChallenges: LocalChallenges;
  waitLane: WaitLane;
  count: Count;
}
