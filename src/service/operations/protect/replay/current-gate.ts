/** The gate as it is now, for replays of logged requests: rules, policies, settings, site and bots, as edges have them. */
import { siteDemandOf } from '../../../../captcha/plan/choose-challenge.ts';
import type { PolicySet } from '../../../../contract/management/policy-set/policy-set.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { policySetOf } from '../../../../store/d1/policy-sets.ts';
import { siteByKey } from '../../../../store/d1/sites.ts';
import { currentPolicy } from '../../../../attack/attack-state.ts';
import { accountBotTable } from '../../../bots/account-bot-table.ts';
import type { ServiceStore } from '../../../environment.ts';
import { currentRules } from './current-rules.ts';
import { policyParts, type ReplayGate, replayGate } from './gate-replay.ts';

const NO_POLICIES: Pick<PolicySet, 'policies' | 'limits'> = { policies: [], limits: [] };

/** `nowMs`: rules that have expired by then do not match. */
export async function currentGate(store: ServiceStore, instance: StoredInstance, nowMs: number): Promise<ReplayGate> {
  const [ruleset, site, policySet, bots] = await Promise.all([
    currentRules(store, instance.id, nowMs),
    siteByKey(store, instance.globalSiteKey),
    policySetOf(store, instance.id, instance.policyVersion),
    accountBotTable(store, instance.accountId, nowMs),
  ]);
  if (site === null) throw new Error(`Instance ${instance.id} names a site that does not exist`);
  const nowSeconds = Math.floor(nowMs / 1000);
  return replayGate(
    { policy: currentPolicy(instance, nowMs), site: siteDemandOf(site.settings) },
    policyParts(policySet ?? NO_POLICIES),
    bots,
    (signals, ofLists) => ruleset.match(signals, nowSeconds, ofLists),
  );
}
