/** Every route of the edge API. `app.ts` checks the client JWT before a handler of this table runs. */
import { appendTelemetry, appendVerdicts } from './append-records.ts';
import { askBotKeys, askBotProofs } from './bot-questions.ts';
import { createSession } from './create-session.ts';
import type { EdgeRoute } from './edge-route.ts';
import { getBots, getConfig, getDelta, getRuleset, getVersion, refuseRuleset } from './edge-files.ts';
import { learnNetwork, spendNonce, spendSeal, takeWait } from './spent-once.ts';
import { mergeRobotsFile } from './merge-robots-file.ts';
import { grantLimits, sumLimits } from './limit-routes.ts';

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
  sumLimits,
  grantLimits,
  spendSeal,
  spendNonce,
  askBotKeys,
  askBotProofs,
  takeWait,
  learnNetwork,
  mergeRobotsFile,
];
