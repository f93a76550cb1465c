/** Sites, by name or by their key. A deleted site keeps its name, so naming it again activates it. */
import { type SiteSettings, siteSettings } from '../../../contract/management/site-settings.ts';
import type { FileSite } from '../config-schema.ts';
import { type PlannedChange, differing, planDeletions, type Planning } from '../plan.ts';
import type { At, Wanted } from '../read-config.ts';
import { stepsOf } from '../report.ts';
import type { ShownSite } from '../service-state.ts';

export async function planSites(
  planning: Planning,
  wanted: NonNullable<Wanted['sites']>,
  instances: Wanted['instances'],
): Promise<void> {
  const { state, report } = planning;
  const sites = await state.sites();
  const named = new Set<ShownSite>();
  for (const site of wanted.values()) {
    const current = sites.find((one) =>
      site.siteKey === undefined ? one.name.toLowerCase() === site.name.toLowerCase() : one.siteKey === site.siteKey,
    );
    if (site.siteKey !== undefined && current === undefined) {
      report.add([...site.path, 'siteKey'], 'is the key of no site of the account. Leave it out for a new site');
      continue;
    }
    if (current !== undefined && named.has(current)) {
      report.add(site.path, `is the site ${current.name}, which the file has already`);
      continue;
    }
    if (current === undefined) planNewSite(planning, site);
    else {
      named.add(current);
      planKnownSite(planning, site, current);
    }
    planDefault(planning, site, current);
  }
  const unnamed = sites.filter((site) => site.active && !named.has(site));
  const gone = planDeletions(planning, unnamed, {
    kind: 'site',
    path: ['sites'],
    isEmpty: wanted.size === 0,
    phase: 'siteDeletion',
    nameOf: ({ name }) => name,
    remove: ({ siteKey }) => state.call('/sites/delete', {}, { siteKey }),
  });
  await checkUnused(planning, gone, instances);
  if (wanted.size === 0 && gone.length > 0)
    report.add(['sites'], 'is empty, and an account keeps a site. Name one, or remove the section');
}

/** The service deletes no site that an instance uses, and not the last one. */
async function checkUnused(
  { state, report, options }: Planning,
  gone: readonly ShownSite[],
  wanted: Wanted['instances'],
): Promise<void> {
  if (gone.length === 0) return;
  const instances = await state.instances();
  for (const { name, siteKey } of gone) {
    const named = [...(wanted?.values() ?? [])].find(
      ({ site }) => site?.toLowerCase() === name.toLowerCase() || site === siteKey,
    );
    const unmoved = instances.find(({ cname, globalSiteKey }) => {
      const isDeleted = wanted?.has(cname) === false && options.prune;
      return globalSiteKey === siteKey && !isDeleted && wanted?.get(cname)?.site === undefined;
    });
    const user = named ?? unmoved;
    if (user === undefined) continue;
    const advice = 'Name it, or give the instance another site';
    report.add(['sites'], `would delete the site ${name}, which the instance ${user.cname} uses. ${advice}`);
  }
}

function planNewSite({ state, report, plan }: Planning, { path, name, settings = {} }: At<FileSite>): void {
  const whole = siteSettings.safeParse(settings);
  for (const { path: inner, message } of whole.error?.issues ?? []) {
    const isMissing = inner[0] === 'domains' && !('domains' in settings);
    report.add([...path, 'settings', ...stepsOf(inner)], isMissing ? 'is required for a new site' : message);
  }
  const change: PlannedChange = { kind: 'site', name, action: 'create', before: null, after: { settings } };
  plan.addChange('site', change, async (made) => {
    const { siteKey } = await state.call('/sites/create', { name, settings });
    made.siteKeys.set(name.toLowerCase(), siteKey);
  });
}

function planKnownSite(
  { state, report, plan, made }: Planning,
  { path, name, settings = {} }: At<FileSite>,
  current: ShownSite,
): void {
  const { siteKey, version, active } = current;
  made.siteKeys.set(name.toLowerCase(), siteKey);
  const merged = siteSettings.safeParse({ ...current.settings, ...settings });
  for (const { path: inner, message } of merged.error?.issues ?? []) {
    report.add([...path, 'settings', ...stepsOf(inner)], message);
  }
  const renamed = differing({ name }, current);
  const changed = differing(settings as Partial<SiteSettings>, current.settings);
  if (active && renamed === null && changed === null) {
    plan.keep();
    return;
  }
  const side = (which: 'before' | 'after') => ({
    ...renamed?.[which],
    ...(changed === null ? {} : { settings: changed[which] }),
  });
  const action = active ? 'change' : 'activate';
  const change: PlannedChange = { kind: 'site', name, action, before: side('before'), after: side('after') };
  plan.addChange('site', change, async () => {
    const answer = active ? { version } : await state.call('/sites/activate', {}, { siteKey });
    if (renamed === null && changed === null) return;
    await state.call('/sites/update', { ...side('after'), ifVersion: answer.version }, { siteKey });
  });
}

/** An account always has one default, so the file can only move it. */
function planDefault({ state, plan }: Planning, { name, isDefault }: At<FileSite>, current?: ShownSite): void {
  if (isDefault === undefined || (current?.isDefault === true && current.active)) return;
  const [before, after] = [{ isDefault: false }, { isDefault: true }];
  const change: PlannedChange = { kind: 'site', name, action: 'change', before, after };
  plan.add('defaultSite', `make ${name} the default site`, [change], (made) =>
    state.call('/sites/update', after, { siteKey: made.siteKeyOf(name) }),
  );
}
