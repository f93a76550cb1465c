/** Sites of an account. The secret key of a site is shown to callers that may see it. */
import * as z from 'zod/mini';
import { type Site, site, siteKey, siteName } from '../../../contract/management/site.ts';
import {
  reactivateSite,
  createSite,
  deactivateSite,
  type SiteRecord,
  sitesOfAccount,
  updateSite,
} from '../../../store/d1/sites.ts';
import { type Operation, operation, type OperationContext, type Principal } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { ownSite } from './own-site.ts';
import { siteSettings } from '../../../contract/management/site-settings.ts';
import { checkDomains } from './check-domains.ts';
import { withoutDefaults } from '../../../contract/management/patch-schema.ts';
import { issueDetails } from '../../http/body/parse-with-schema.ts';
import { checkVersion, ifVersion, untilWritten } from '../stale-write.ts';
import { activeInstancesOf } from '../../../store/d1/instances.ts';
import { retireInstance } from '../protect/instances/instances.ts';

/** `secretKey` is left out for a caller with `readSites` alone. */
const shownSite = z.extend(site, { secretKey: z.optional(z.string()) });

function siteResponse(record: SiteRecord): Site {
  const { name, siteKey: key, secretKey, settings, active, isDefault, version, createdAt, updatedAt } = record;
  const { widgetSolvedAt, backendVerifiedAt } = record;
  const times = { createdAt, updatedAt, widgetSolvedAt, backendVerifiedAt };
  return { name, siteKey: key, secretKey, settings, active, isDefault, version, ...times };
}

/** The secret verifies tokens in the name of the site, so a caller that only reads does not see it. */
function siteShownTo(
  { permissions }: Principal,
  permission: 'getSite' | 'getSites',
  record: SiteRecord,
): z.infer<typeof shownSite> {
  const { secretKey, ...rest } = siteResponse(record);
  return permissions.Sites?.includes(permission) === true ? { ...rest, secretKey } : rest;
}

/** What can be changed. */
function siteFields({ name, settings, isDefault }: SiteRecord): object {
  return { name, ...settings, isDefault };
}

function duplicateName(): OperationError {
  return new OperationError('PORTAL.DUPLICATE_SITE_NAME', 'A site of this account already has this name', [
    { path: 'name', message: 'is taken' },
  ]);
}

export const siteOperations: readonly Operation[] = [
  /** Every site of the account; a deleted site is inactive. */
  operation({
    name: 'get-sites',
    path: '/sites/get',
    feature: 'Sites',
    permission: 'getSites',
    access: 'read',
    summary: 'List every site of the account',
    body: z.strictObject({}),
    response: z.array(shownSite),
    async handler({ store, account, principal }) {
      return (await sitesOfAccount(store, account.id)).map((record) => siteShownTo(principal, 'getSites', record));
    },
  }),
  /** One site, by its key. */
  operation({
    name: 'get-site',
    path: '/site/get',
    feature: 'Sites',
    permission: 'getSite',
    access: 'read',
    summary: 'Get one site',
    body: z.strictObject({ siteKey }),
    response: shownSite,
    async handler(context) {
      return siteShownTo(context.principal, 'getSite', await ownSite(context, context.body.siteKey));
    },
  }),
  /** Generates the keys, normalises the domains, and makes the first site of an account its default. */
  operation({
    name: 'create-site',
    path: '/sites/create',
    feature: 'Sites',
    permission: 'createSite',
    access: 'write',
    summary: 'Create a site',
    body: z.strictObject({ name: siteName, settings: siteSettings }),
    response: site,
    async handler({ store, account, body, nowMs, changes }) {
      const settings = { ...body.settings, domains: [...new Set(body.settings.domains)] };
      checkDomains(account.tier, settings.domains);
      const created = await createSite(store, { accountId: account.id, name: body.name, settings }, nowMs);
      if (!created.ok) throw duplicateName();
      const { domains: _domains, ...defaults } = siteSettings.parse({ domains: settings.domains });
      changes.note('site', [{ name: body.name, before: null, after: settings, defaults }]);
      return siteResponse(created.value);
    },
  }),
  /**
   * Changes the fields that are sent and keeps the others. A field of `settings` that is sent replaces that whole
   * field. When another update was faster, the site is read again and merged again, so two clients that change
   * different fields both succeed.
   */
  operation({
    name: 'update-site',
    path: '/sites/update',
    feature: 'Sites',
    permission: 'updateSite',
    access: 'write',
    summary: 'Change a site',
    body: z.strictObject({
      siteKey,
      name: z.optional(siteName),
      settings: z.optional(z.strictObject(withoutDefaults(siteSettings.shape))),
      /** `true` makes this the default site of the account, instead of the former one. There is always one. */
      isDefault: z.optional(z.boolean()),
      /** `version` of the site that this change was made for. If it is another one by now, nothing changes: 409. */
      ifVersion,
    }),
    response: site,
    async handler(context) {
      const { store, account, body, nowMs } = context;
      return untilWritten('Other clients are changing this site; try again', async () => {
        const current = await ownSite(context, body.siteKey);
        checkVersion('The site', body.ifVersion, current.version);
        if (body.isDefault && !current.active) {
          throw new OperationError('API.BAD_REQUEST', 'An inactive site cannot be the default');
        }
        if (body.isDefault === false && current.isDefault) {
          throw new OperationError('API.BAD_REQUEST', 'Make another site the default instead');
        }
        const merged = siteSettings.safeParse({ ...current.settings, ...body.settings });
        if (!merged.success) {
          const details = issueDetails(merged.error).map((one) => ({ ...one, path: `settings.${one.path}` }));
          throw new OperationError('API.INVALID_BODY', 'The changed settings do not fit together', details);
        }
        const settings = { ...merged.data, domains: [...new Set(merged.data.domains)] };
        if (body.settings?.domains) checkDomains(account.tier, settings.domains);
        const outcome = await updateSite(
          store,
          {
            siteKey: current.siteKey,
            accountId: account.id,
            name: body.name ?? current.name,
            settings,
            isDefault: body.isDefault ?? current.isDefault,
          },
          current.version,
          nowMs,
        );
        if (outcome.ok) {
          const updated = await ownSite(context, body.siteKey);
          const [before, after] = [siteFields(current), siteFields(updated)];
          context.changes.note('site', [{ name: current.name, before, after }]);
          return siteResponse(updated);
        }
        if (outcome.error === 'duplicate-name') throw duplicateName();
        return null;
      });
    },
  }),
  /**
   * Deactivates a site, so that its tokens no longer verify. The last active site must stay. A site that an active
   * instance uses stays too, because the instance's visitors could pass no challenge any more; with
   * `deactivateInstance` both go in one step.
   */
  operation({
    name: 'delete-site',
    path: '/sites/delete',
    feature: 'Sites',
    permission: 'deleteSite',
    access: 'write',
    summary: 'Deactivate a site',
    body: z.strictObject({
      siteKey,
      /** Also deactivates the instance that uses the site. Needs the permission `updateProtectSettings`. */
      deactivateInstance: z._default(z.boolean(), false),
    }),
    response: z.object({
      success: z.literal(true),
      deactivatedSiteKey: z.string(),
      deactivatedInstanceId: z.optional(z.string()),
    }),
    async handler(context) {
      const { store, account, body, nowMs } = context;
      const deactivated = { success: true, deactivatedSiteKey: body.siteKey } as const;
      const record = await ownSite(context, body.siteKey);
      if (!record.active) return deactivated;
      const [instance] = await activeInstancesOf(store, account.id, { siteKey: body.siteKey, limit: 1 });
      if (instance && !body.deactivateInstance) throw siteUsed(`the active instance ${instance.name} (${instance.id})`);
      if (instance) checkMayDeleteInstances(context);
      const deactivating = { accountId: account.id, siteKey: body.siteKey, instanceId: instance?.id ?? null };
      const outcome = await deactivateSite(store, deactivating, nowMs);
      if (!outcome.ok) {
        if (outcome.error === 'site-used') throw siteUsed('an instance that was just created');
        throw new OperationError('PORTAL.CANNOT_DEACTIVATE_LAST_SITE', 'The last remaining site cannot be deactivated');
      }
      context.changes.note('site', [{ name: record.name, before: {}, after: null }]);
      if (!instance) return deactivated;
      context.changes.note('instance', [{ name: instance.name, before: {}, after: null }]);
      await retireInstance(context, instance.id);
      return { ...deactivated, deactivatedInstanceId: instance.id };
    },
  }),
  /**
   * The way back after `/sites/delete`. The site has its keys and settings again. An instance that was deactivated with
   * it stays inactive.
   */
  operation({
    name: 'activate-site',
    path: '/sites/activate',
    feature: 'Sites',
    permission: 'updateSite',
    access: 'write',
    summary: 'Reactivate a site',
    body: z.strictObject({ siteKey }),
    response: site,
    async handler(context) {
      const { store, account, body, nowMs } = context;
      const record = await ownSite(context, body.siteKey);
      if (record.active) return siteResponse(record);
      // The plan may have changed since.
      checkDomains(account.tier, record.settings.domains);
      await reactivateSite(store, account.id, body.siteKey, nowMs);
      context.changes.name('site', record.name);
      return siteResponse(await ownSite(context, body.siteKey));
    },
  }),
];

function siteUsed(by: string): OperationError {
  const message = `The site is used by ${by}. Delete that instance first, or send deactivateInstance`;
  return new OperationError('API.CONFLICT', message, [{ path: 'siteKey', message: 'is used by an active instance' }]);
}

function checkMayDeleteInstances({
  account,
  principal,
}: Pick<OperationContext<unknown>, 'account' | 'principal'>): void {
  const may = account.features.includes('Protect') && principal.permissions.Protect?.includes('updateProtectSettings');
  if (!may) throw new OperationError('API.INSUFFICIENT_PERMISSIONS', 'This key may not deactivate instances');
}
