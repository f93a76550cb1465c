/** Every command, under the words that name it. `command.ts` says how to add one. */
import { alertCommands } from './alerts.ts';
import { applyCommands } from './apply/commands.ts';
import { attackCommands } from './attack.ts';
import { botCommands } from './bots.ts';
import type { Commands } from './command.ts';
import { completionCommands } from './completion/completion.ts';
import { costCommands } from './cost/cost.ts';
import { databaseCommands } from './database/database-commands.ts';
import { limitCommands } from './limits.ts';
import { listCommands } from './lists.ts';
import { logCommands } from './log-rebuild.ts';
import { loginCommands } from './login.ts';
import { policyCommands } from './policies/commands.ts';
import { ruleCommands } from './rules.ts';
import { tailCommands } from './verdicts/tail.ts';
import { topCommands } from './verdicts/top.ts';
import { verdictCommands } from './verdicts/verdicts.ts';
import { whyCommands } from './why.ts';

export const commandTable: Commands = {
  ...verdictCommands,
  ...tailCommands,
  ...whyCommands,
  ...topCommands,
  ...applyCommands,
  ...ruleCommands,
  ...policyCommands,
  ...limitCommands,
  ...botCommands,
  ...logCommands,
  ...alertCommands,
  ...attackCommands,
  ...listCommands,
  ...databaseCommands,
  ...loginCommands,
  ...completionCommands,
  ...costCommands,
};
