/** Instances, by cname, with what belongs to them. */
import {
  instanceSettings,
  newInstanceSettings,
  type ProtectInstance,
} from '../../../contract/management/instance-settings.ts';
import { differing, planDeletions, type PlannedChange, type Planning } from '../plan.ts';
import type { Wanted, WantedInstance } from '../read-config.ts';
import { planLists } from './lists.ts';
import { planPolicies } from './policies.ts';
import { planRules } from './rules.ts';

export async function planInstances(planning: Planning, wanted: Wanted): Promise<void> {
  const { state, made } = planning;
  const instances = await state.instances();
  const known = new Map(instances.map((instance) => [instance.cname, instance]));
  for (const { cname, globalSiteKey } of instances) made.instanceKeys.set(cname, globalSiteKey);
  const siteKeys = await siteKeysOf(planning, wanted);
  for (const instance of wanted.instances?.values() ?? []) {
    const current = known.get(instance.cname) ?? null;
    checkSite(planning, instance, siteKeys);
    if (current === null) planNewInstance(planning, instance);
    else planKnownInstance(planning, instance, current);
    await planRules(planning, instance, current);
    await planPolicies(planning, instance, current);
    await planLists(planning, instance, current);
  }
  const unnamed = instances.filter(({ cname }) => wanted.instances?.has(cname) === false);
  planDeletions(planning, unnamed, {
    kind: 'instance',
    path: ['instances'],
    isEmpty: wanted.instances?.size === 0,
    phase: 'instanceDeletion',
    nameOf: ({ cname }) => cname,
    remove: ({ id }) => state.call('/protect/instances/delete', { id }),
  });
}

/** Keys of the active sites by name, and `''` for sites that the file makes. */
async function siteKeysOf({ state }: Planning, { sites }: Wanted): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  for (const { name, siteKey, active } of await state.sites()) if (active) keys.set(name.toLowerCase(), siteKey);
  for (const name of sites?.keys() ?? []) if (!keys.has(name)) keys.set(name, '');
  return keys;
}

function checkSite({ report, made }: Planning, { path, site }: WantedInstance, keys: Map<string, string>): void {
  if (site === undefined) return;
  const key = keys.get(site.toLowerCase());
  if (key !== undefined && key !== '') made.siteKeys.set(site.toLowerCase(), key);
  if (key !== undefined || [...keys.values()].includes(site)) return;
  report.add([...path, 'site'], 'is the name or key of no active site of the account, and of no site of the file');
}

function planNewInstance({ state, report, plan }: Planning, instance: WantedInstance): void {
  const { path, cname, name = cname, site, settings = {} } = instance;
  if (site === undefined) report.add(path, 'needs a site, because the account has no instance with this cname');
  checkThresholds(report, path, newInstanceSettings.parse(settings));
  const after = { name, site, settings };
  const change: PlannedChange = { kind: 'instance', name: cname, action: 'create', before: null, after };
  plan.addChange('newInstance', change, async (made) => {
    const globalSiteKey = made.siteKeyOf(site ?? '');
    await state.call('/protect/instances/create', { name, cname, globalSiteKey, ...settings });
    made.instanceKeys.set(cname, globalSiteKey);
  });
}

function planKnownInstance(
  { state, report, plan, made: known }: Planning,
  { path, cname, name, site, settings = {} }: WantedInstance,
  current: ProtectInstance,
): void {
  checkThresholds(report, path, { ...current, ...settings });
  const { id, version } = current;
  const changed = differing(settings, current);
  const renamed = differing({ name }, current);
  const moved =
    site !== undefined && known.siteKeyOf(site) !== current.globalSiteKey
      ? { before: { site: current.globalSiteKey }, after: { site } }
      : null;
  if (changed === null && renamed === null && moved === null) {
    plan.keep();
    return;
  }
  const side = (which: 'before' | 'after') => ({
    ...renamed?.[which],
    ...moved?.[which],
    ...(changed === null ? {} : { settings: changed[which] }),
  });
  const sides = { before: side('before'), after: side('after') };
  plan.addChange('instance', { kind: 'instance', name: cname, action: 'change', ...sides }, async (made) => {
    const globalSiteKey = moved === null ? current.globalSiteKey : made.siteKeyOf(moved.after.site);
    const siteField = moved === null ? {} : { globalSiteKey };
    const body = { id, ...renamed?.after, ...siteField, ...changed?.after, ifVersion: version };
    await state.call('/protect/instances/update', body);
    made.instanceKeys.set(cname, globalSiteKey);
  });
}

function checkThresholds(
  report: Planning['report'],
  path: WantedInstance['path'],
  { challengeThreshold, blockThreshold }: Partial<Record<keyof typeof instanceSettings.shape, unknown>>,
): void {
  if (Number(challengeThreshold) <= Number(blockThreshold)) return;
  report.add([...path, 'settings'], 'challengeThreshold must not be above blockThreshold');
}
