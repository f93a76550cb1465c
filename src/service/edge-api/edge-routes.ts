/** Every route of the edge API. `app.ts` checks the client JWT before a handler of this table runs. */
import { appendTelemetry } from './append-telemetry.ts';
import { appendVerdicts } from './append-verdicts.ts';
import { botKeys } from './bot-keys.ts';
import { botProofs } from './bot-proofs.ts';
import { createSession } from './create-session.ts';
import type { EdgeRoute } from './edge-route.ts';
import { getBots } from './get-bots.ts';
import { getConfig } from './get-config.ts';
import { getDelta } from './get-delta.ts';
import { getRuleset } from './get-ruleset.ts';
import { getVersion } from './get-version.ts';
import { learnNetwork } from './learn-network.ts';
import { mergeRobotsFile } from './merge-robots-file.ts';
import { refuseRuleset } from './refuse-ruleset.ts';
import { reportLimits } from './report-limits.ts';
import { spendNonce } from './spend-nonce.ts';
import { spendSeal } from './spend-seal.ts';
import { takeLimits } from './take-limits.ts';
import { takeWait } from './take-wait.ts';

export const edgeRoutes: readonly EdgeRoute[] = [
  getVersion,
  getConfig,
  getRuleset,
  refuseRuleset,
  getDelta,
  getBots,
  createSession,
  appendVerdicts,
  appendTelemetry,
  reportLimits,
  takeLimits,
  spendSeal,
  spendNonce,
  botKeys,
  botProofs,
  takeWait,
  learnNetwork,
  mergeRobotsFile,
];
