/** Compares a file with what runs. Only the kinds that the file names are read. */
import { planAccessControl, planBots, planChannels, planUsers } from './kinds/account.ts';
import { planInstances } from './kinds/instances.ts';
import { planSites } from './kinds/sites.ts';
import { Made, type Plan, PlanBuilder, type Planning, type PlanOptions } from './plan.ts';
import type { ReadConfig } from './read-config.ts';
import type { Environment } from './secret-reference.ts';
import type { ServiceState } from './service-state.ts';

/** @throws RejectedFileError for what does not fit what runs; CallError */
export async function makePlan(
  { wanted, report }: ReadConfig,
  state: ServiceState,
  options: PlanOptions,
  environment: Environment,
  nowMs: number,
): Promise<Plan> {
  const plan = new PlanBuilder();
  const made = new Made();
  const planning: Planning = { state, report, options, environment, nowMs, plan, made };
  if (wanted.sites !== undefined) await planSites(planning, wanted.sites, wanted.instances);
  if (wanted.bots !== undefined) await planBots(planning, wanted.bots);
  if (wanted.accessControl !== undefined) await planAccessControl(planning, wanted.accessControl);
  if (wanted.instances !== undefined) await planInstances(planning, wanted);
  if (wanted.users !== undefined) await planUsers(planning, wanted.users);
  if (wanted.alertChannels !== undefined) await planChannels(planning, wanted.alertChannels);
  report.check();
  return plan.finish(made);
}
